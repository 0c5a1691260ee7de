import { ConfigurationError } from '../config/config.ts';
import { PoolerError } from '../db/pooler-error.ts';
import { NewerSchemaError } from '../db/schema.ts';
import { makeLog } from '../log.ts';
import { makeReviewWorkers } from '../review/workers/review-workers.ts';
import { version } from '../version.ts';
import type { Command } from './command.ts';
import { EX_CONFIG, EX_USAGE, reasonOf, UsageError } from './failures.ts';
import type { Terminal } from './terminal.ts';

/** A command in the table of a program. */
export interface Row {
  /** What the command does, in the help of the program. */
  readonly summary: string;
  /** Imports the command: its modules are loaded only when it is run. */
  readonly load: () => Promise<Command>;
}

/** The commands of a program by their names, in the order of its help. */
export type Commands = Readonly<Record<string, Row>>;

function helpOf(commands: Commands): string {
  const width = 2 + Math.max(...Object.keys(commands).map((name) => name.length));
  return `Gatehouse reviews pull requests against the rules in their repository.

Usage: gatehouse <command>

${Object.entries(commands)
  .map(([name, { summary }]) => `  ${name.padEnd(width)}${summary}`)
  .join('\n')}

  --help, --version; "gatehouse <command> --help" prints arguments, options, settings and exit codes

Configure Gatehouse with environment variables: see docs/settings.md. Exit codes: 0 done, 1 failed,
64 invalid usage, 78 invalid configuration or a database schema that is newer than this version.
`;
}

/** Runs the command that the arguments name, from the folder where relative paths begin, and sets the exit code. */
export async function runProgram(commands: Commands, args: readonly string[], folder: string): Promise<void> {
  // The reader of the output may stop reading, as `head` does: that is no error.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') {
      throw error;
    }
    process.exit();
  });
  const { stdin, stdout, stderr, env } = process;
  // One worker: a command has one policy to read.
  const startWorkers = () => makeReviewWorkers({ size: 1 });
  const { code, mayHang } = await runCommandLine(commands, args, { stdin, stdout, stderr, env, folder, startWorkers });
  // A store that hangs does not close its half of a connection, which would keep the process running.
  if (mayHang) {
    process.exit(code);
  }
  process.exitCode = code;
}

interface Ended {
  readonly code: number;
  /** Whether a connection may be left open. */
  readonly mayHang: boolean;
}

/** Runs the command that the arguments name, and prints what stopped it. It does not end the process. */
export async function runCommandLine(
  commands: Commands,
  [name, ...args]: readonly string[],
  terminal: Terminal,
): Promise<Ended> {
  if (name === 'help' || name === '--help' || name === '-h') {
    terminal.stdout.write(helpOf(commands));
    return { code: 0, mayHang: false };
  }
  if (name === '--version') {
    terminal.stdout.write(`${version}\n`);
    return { code: 0, mayHang: false };
  }
  const row = name !== undefined && Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (row === undefined) {
    const help = helpOf(commands);
    terminal.stderr.write(name === undefined ? `${help}\n` : `Unknown command "${name}".\n\n${help}\n`);
    return { code: EX_USAGE, mayHang: false };
  }
  const command = await row.load();
  const code = await command.run(args, terminal).catch((error: unknown) => stopped(command, error, terminal));
  return { code, mayHang: command.logs || command.mayHang };
}

/** Reports what stopped a command. Returns its exit code. */
function stopped({ name, usage, logs }: Command, error: unknown, { stderr }: Terminal): number {
  const program = `gatehouse ${name}`;
  const complain = (line: string) => stderr.write(`${line}\n`);
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (error instanceof UsageError || code.startsWith('ERR_PARSE_ARGS')) {
    complain(`${program}: ${reasonOf(error)}\n\nUsage: ${program} ${usage[0]}; see ${program} --help`);
    return EX_USAGE;
  }
  if (error instanceof ConfigurationError) {
    complain(error.message);
    return EX_CONFIG;
  }
  if (logs) {
    makeLog('info').fatal({ err: error }, 'Gatehouse stopped on an error');
  } else {
    complain(`${program}: ${reasonOf(error)}`);
  }
  return error instanceof NewerSchemaError || error instanceof PoolerError ? EX_CONFIG : 1;
}
