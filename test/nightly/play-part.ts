import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile } from 'node:fs/promises';
import type { Command, Part } from './parts.ts';

export interface Row {
  readonly name: string;
  readonly outcome: 'passed' | 'RED' | 'left out';
  readonly seconds: number;
  /** The last line of each command, and what was flaky; or why it was left out. */
  readonly said: string;
}

interface Setting {
  /** Path of the file that keeps what a command prints; 0 is the first. */
  readonly log: (command: number) => string;
  /** Told how far it is, now and then. */
  readonly progress: (line: string) => void;
  readonly progressMs?: number;
  /** Ends the part. */
  readonly signal: AbortSignal;
}

const PROGRESS_MS = 30_000;
/** From SIGTERM to SIGKILL: the tests remove their containers meanwhile. */
const GRACE_MS = 30_000;
/** Burns a core until its parent is gone. */
const BUSY = 'const { ppid } = process; while (process.ppid === ppid);';
const FLAKY = /^FLAKY: .*/gm;

/** Never throws for what its commands do. */
export async function playPart(part: Part, setting: Setting): Promise<Row> {
  const lacking = await part.lacks?.();
  if (lacking !== undefined) {
    return { name: part.name, outcome: 'left out', seconds: 0, said: `because ${lacking}` };
  }
  const since = performance.now();
  const limit = AbortSignal.timeout(part.limitMinutes * 60_000);
  const signal = AbortSignal.any([limit, setting.signal]);
  const busy = Array.from({ length: part.busy ?? 0 }, () => spawn(process.execPath, ['-e', BUSY], { stdio: 'ignore' }));
  const said: string[] = [];
  let isRed = false;
  for (const [index, command] of part.commands.entries()) {
    if (signal.aborted) {
      break;
    }
    const log = setting.log(index);
    const passed = await run(command, log, { ...setting, signal });
    const printed = await readFile(log, 'utf8');
    const flaky = printed.match(FLAKY) ?? [];
    said.push(...flaky, passed ? lastLine(printed) : `${lastLine(printed)} (${log})`);
    isRed ||= !passed || flaky.length > 0;
  }
  for (const child of busy) {
    child.kill();
  }
  if (limit.aborted) {
    said.push(`ended after its limit of ${part.limitMinutes} minutes`);
  } else if (setting.signal.aborted) {
    said.push('was ended');
  }
  const outcome = isRed || signal.aborted ? 'RED' : 'passed';
  return { name: part.name, outcome, seconds: (performance.now() - since) / 1_000, said: said.join('; ') };
}

/** Whether it has exited with 0. */
async function run(
  { argv: [program, ...args], env, cwd }: Command,
  log: string,
  { progress, progressMs, signal }: Omit<Setting, 'log'>,
): Promise<boolean> {
  const since = performance.now();
  await using file = await open(log, 'w');
  // In a group of its own, which is ended as a whole.
  const child = spawn(program, args, {
    detached: true,
    cwd,
    stdio: ['ignore', file.fd, file.fd],
    env: { ...process.env, ...env },
  });
  let kill: NodeJS.Timeout | undefined;
  const end = () => {
    endGroup(child.pid, 'SIGTERM');
    kill = setTimeout(() => endGroup(child.pid, 'SIGKILL'), GRACE_MS);
  };
  signal.addEventListener('abort', end);
  const told = setInterval(async () => {
    progress(`${timeOf((performance.now() - since) / 1_000)}  ${lastLine(await readFile(log, 'utf8'))}`);
  }, progressMs ?? PROGRESS_MS);
  const code = await once(child, 'close').then(
    ([code]: (number | null)[]) => code,
    () => 1,
  );
  signal.removeEventListener('abort', end);
  clearInterval(told);
  clearTimeout(kill);
  return code === 0;
}

function endGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  try {
    process.kill(-(pid ?? Number.NaN), signal);
  } catch {
    // It has ended.
  }
}

function lastLine(text: string): string {
  return text.trimEnd().split('\n').at(-1)?.trim() ?? '';
}

/** `3 min 5 s` */
export function timeOf(seconds: number): string {
  return seconds < 60 ? `${Math.floor(seconds)} s` : `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`;
}
