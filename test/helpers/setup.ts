import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import type { ExecutionContext } from 'ava';
import { setup } from '../../src/commands/setup/setup.ts';
import { execute } from './execute.ts';
import { startWorkers } from './run-command.ts';

export async function makeFolder(t: ExecutionContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-setup-'));
  t.teardown(() => rm(folder, { recursive: true }));
  return folder;
}

export type SetupRun = ReturnType<typeof startSetup>;

/** `gatehouse setup` in this process, which writes to the folder. */
export function startSetup(folder: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  let printed = '';
  const screen = {
    write(text: string | Uint8Array) {
      printed += String(text);
    },
  };
  const terminal = { stdin: new PassThrough(), stdout: screen, stderr: screen, env, folder, startWorkers };
  const finished = setup
    .run(args, terminal)
    .catch((error: unknown) => (error instanceof Error ? error : new Error(String(error))));
  return { finished, output: () => printed };
}

/** Runs the command that requires the status, as it was printed, with a token in the shell's variable. */
export async function requireStatus(printed: string, token: string): Promise<void> {
  const [command = ''] = /printf .*/.exec(printed) ?? [];
  await execute('sh', ['-c', command], { env: { ...process.env, TOKEN: token } });
}
