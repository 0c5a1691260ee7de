import { Readable } from 'node:stream';
import type { Command } from '../../src/commands/command.ts';
import { runCommandLine } from '../../src/commands/program.ts';
import { COMMANDS } from '../../src/commands/table.ts';
import type { Terminal } from '../../src/commands/terminal.ts';
import { makeReviewWorkers } from '../../src/review/workers/review-workers.ts';

interface Surroundings {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly folder?: string;
  readonly input?: string;
}

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A worker takes a third of a second of processor time to start: the commands of a test file share one. */
const workers = makeReviewWorkers({ size: 1 });
export const startWorkers = () => ({ ...workers, close: async () => {} });

/** Runs a command in this process, with pipes and nothing but this environment. Rejects with what stops it. */
export async function runCommand(
  command: Command,
  args: readonly string[],
  surroundings: Surroundings = {},
): Promise<Ran> {
  const { terminal, printed } = makeTerminal(surroundings);
  const code = await command.run(args, terminal);
  return { code, ...printed };
}

/**
 * What `gatehouse` does with these arguments, in this process: it takes a tenth of the processor time of a process.
 * A test of the process itself starts one: its signals, its pipes, and that it ends.
 */
export async function runGatehouse(args: readonly string[], surroundings: Surroundings = {}): Promise<Ran> {
  const { terminal, printed } = makeTerminal(surroundings);
  const { code } = await runCommandLine(COMMANDS, args, terminal);
  return { code, ...printed };
}

function makeTerminal({ env = {}, folder = '.', input = '' }: Surroundings): {
  readonly terminal: Terminal;
  readonly printed: { readonly stdout: string; readonly stderr: string };
} {
  const printed = { stdout: '', stderr: '' };
  const pipe = (name: keyof typeof printed) => ({
    write(text: string | Uint8Array) {
      printed[name] += typeof text === 'string' ? text : Buffer.from(text).toString();
    },
  });
  const stdin = Readable.from([Buffer.from(input)]);
  return { terminal: { stdin, stdout: pipe('stdout'), stderr: pipe('stderr'), env, folder, startWorkers }, printed };
}
