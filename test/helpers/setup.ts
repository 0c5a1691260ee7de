import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import type { ExecutionContext } from 'ava';
import { makeSetup, type SetupDeps } from '../../src/commands/setup/setup.ts';
import { startWorkers } from './run-command.ts';
import { until } from './until.ts';

export interface SetupRun {
  /** The exit code, or the error that ended it. */
  readonly finished: Promise<number | Error>;
  /** All that was printed so far. */
  output(): string;
}

/** A folder of the test's own. */
export async function makeFolder(t: ExecutionContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-setup-'));
  t.teardown(() => rm(folder, { recursive: true }));
  return folder;
}

/** `gatehouse setup` in this process, which writes to the folder. Nobody is there to answer unless `deps` has an input. */
export function startSetup(
  folder: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  deps: SetupDeps = {},
): SetupRun {
  let printed = '';
  const screen = {
    isTTY: true,
    write(text: string | Uint8Array) {
      printed += String(text);
    },
  };
  const terminal = { stdin: new PassThrough(), stdout: screen, stderr: screen, env, folder, startWorkers };
  const finished = makeSetup(deps)
    .run(args, terminal)
    .catch((error: unknown) => (error instanceof Error ? error : new Error(String(error))));
  return { finished, output: () => printed };
}

/** Somebody at a terminal who answers each question, found by a part of its text, once. */
export function typist(): NonNullable<SetupDeps['input']> & PassThrough {
  return Object.assign(new PassThrough(), { isTTY: true });
}

export async function answer(run: SetupRun, input: PassThrough, question: string, text: string): Promise<void> {
  let ended = false;
  void run.finished.then(() => {
    ended = true;
  });
  await until(() => ended || run.output().includes(question));
  if (ended) {
    throw new Error(`it ended before it asked "${question}": ${await run.finished}\n${run.output()}`);
  }
  input.write(`${text}\n`);
}
