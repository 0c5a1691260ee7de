import { ConfigurationError } from '../config/config.ts';
import { PoolerError } from '../db/pooler-error.ts';
import { NewerSchemaError } from '../db/schema.ts';
import { makeLog } from '../log.ts';
import { version } from '../version.ts';
import type { Command } from './command.ts';
import { EX_CONFIG, EX_USAGE, reasonOf, UsageError } from './failures.ts';

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
  return `Gatehouse reviews pull requests by the rules in their own repository.

Usage: gatehouse <command>

${Object.entries(commands)
  .map(([name, { summary }]) => `  ${name.padEnd(width)}${summary}`)
  .join('\n')}

  --help, --version; "gatehouse <command> --help" prints arguments, options, settings and exit codes

Environment variables configure Gatehouse; docs/settings.md lists them. Exit codes: 0 done, 1 failed,
64 wrong usage, 78 wrong configuration or a database schema that is newer than this version.
`;
}

const complain = (line: string) => process.stderr.write(`${line}\n`);

/** Runs the command that the arguments name, from the folder where relative paths begin, and sets the exit code. */
export async function runProgram(commands: Commands, args: readonly string[], folder: string): Promise<void> {
  // The reader of the output may stop reading, as `head` does: that is no error.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') {
      throw error;
    }
    process.exit();
  });
  process.exitCode = await runNamed(commands, args, folder);
}

/** Resolves with the exit code. */
async function runNamed(commands: Commands, [name, ...args]: readonly string[], folder: string): Promise<number> {
  if (name === 'help' || name === '--help' || name === '-h') {
    process.stdout.write(helpOf(commands));
    return 0;
  }
  if (name === '--version') {
    process.stdout.write(`${version}\n`);
    return 0;
  }
  const row = name !== undefined && Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (row === undefined) {
    const help = helpOf(commands);
    complain(name === undefined ? help : `Unknown command "${name}".\n\n${help}`);
    return EX_USAGE;
  }
  const command = await row.load();
  const { stdin, stdout, stderr, env } = process;
  const run = command.run(args, { stdin, stdout, stderr, env, folder });
  const code = await run.catch((error: unknown) => stopped(command, error));
  // A store that hangs does not close its half of a connection, which would keep the process running.
  if (command.logs || command.mayHang) {
    process.exit(code);
  }
  return code;
}

/** Reports what stopped a command. Returns its exit code. */
function stopped({ name, usage, logs }: Command, error: unknown): number {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (error instanceof UsageError || code.startsWith('ERR_PARSE_ARGS')) {
    complain(
      `gatehouse ${name}: ${reasonOf(error)}\n\nUsage: gatehouse ${name} ${usage[0]}; see gatehouse ${name} --help`,
    );
    return EX_USAGE;
  }
  if (error instanceof ConfigurationError) {
    complain(error.message);
    return EX_CONFIG;
  }
  if (logs) {
    makeLog('info').fatal({ err: error }, 'Gatehouse stopped on an error');
  } else {
    complain(`gatehouse ${name}: ${reasonOf(error)}`);
  }
  return error instanceof NewerSchemaError || error instanceof PoolerError ? EX_CONFIG : 1;
}
