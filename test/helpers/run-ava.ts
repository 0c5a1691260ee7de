import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type AvaEvent, makeTally, type Running, type Tally } from './tally.ts';

const PROJECT = fileURLToPath(new URL('../..', import.meta.url));
/** A shell's exit code for a process that a signal ended. */
const SIGNALLED = 128;
/** AVA waits forever for a file that has left a connection or a server open after a test with a time limit of its own. */
const QUIET_MS = 120_000;
const NAMED = 5;

export interface AvaRun {
  readonly tally: Tally;
  readonly exitCode: number;
  /** What ended the run before its time, and what was running. For people. */
  readonly endedBy?: string;
}

/** One run of AVA with these arguments. SIGINT and SIGTERM of this process, and `signal`, end it. */
export async function runAva(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  { signal, output = 'inherit' }: { readonly signal?: AbortSignal; readonly output?: 'inherit' | 'ignore' } = {},
): Promise<AvaRun> {
  const tally = makeTally();
  const ava = fileURLToPath(new URL('cli.js', import.meta.resolve('ava')));
  const child = spawn(process.execPath, [ava, ...args], {
    stdio: ['inherit', output, output, 'ipc'],
    env: { ...process.env, ...env },
  });
  let endedBy: string | undefined;
  const endedWhile = (how: string) => {
    endedBy ??= [`${how} while these ran:`, ...tally.running().map(describe)].join('\n');
  };
  const end = (name: NodeJS.Signals) => {
    endedWhile(`The run was ended by ${name}`);
    child.kill(name);
  };
  const quiet = setTimeout(() => {
    const files = tally.leftOpen();
    if (files.length > 0) {
      process.stderr.write(
        `all tests are over, but these files have left something open: ${files.map((file) => relative(PROJECT, file)).join(', ')}\n`,
      );
      end('SIGINT');
    }
  }, QUIET_MS);
  child.on('message', (event: AvaEvent) => {
    if (event.type === 'timeout') {
      endedWhile(`No test ended for ${event.period} ms`);
    }
    tally.note(event);
    quiet.refresh();
  });
  const onAbort = () => end('SIGTERM');
  process.on('SIGINT', end);
  process.on('SIGTERM', end);
  signal?.addEventListener('abort', onAbort);
  const [code, by]: [number | null, NodeJS.Signals | null] = await once(child, 'close').then(([c, s]) => [c, s]);
  clearTimeout(quiet);
  process.off('SIGINT', end);
  process.off('SIGTERM', end);
  signal?.removeEventListener('abort', onAbort);

  if (by !== null) {
    endedWhile(`AVA was ended by ${by}`);
  }
  const exitCode = code ?? SIGNALLED + (by === null ? 0 : constants.signals[by]);
  return endedBy === undefined ? { tally, exitCode } : { tally, exitCode: exitCode || 1, endedBy };
}

function describe({ file, titles }: Running): string {
  const named = titles.slice(0, NAMED).map((title) => `    ${title}`);
  const more = titles.length > NAMED ? [`    and ${titles.length - NAMED} more`] : [];
  return [`  ${relative(PROJECT, file)}`, ...named, ...more].join('\n');
}
