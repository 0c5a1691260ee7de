import { Readable } from 'node:stream';
import type { Command } from '../../src/commands/command.ts';

interface Surroundings {
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Where the paths of the arguments begin. */
  readonly folder?: string;
  /** What standard input has. */
  readonly input?: string;
}

/** Runs a command in this process, with pipes and nothing but this environment. */
export async function runCommand(
  command: Command,
  args: readonly string[],
  { env = {}, folder = '.', input = '' }: Surroundings = {},
): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> {
  const printed = { stdout: '', stderr: '' };
  const pipe = (name: keyof typeof printed) => ({
    write(text: string | Uint8Array) {
      printed[name] += String(text);
    },
  });
  const stdin = Readable.from([Buffer.from(input)]);
  const code = await command.run(args, { stdin, stdout: pipe('stdout'), stderr: pipe('stderr'), env, folder });
  return { code, ...printed };
}
