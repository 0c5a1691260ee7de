#!/usr/bin/env node
import { dirname } from 'node:path';
import type { Command } from './commands/command.ts';
import { EX_CONFIG, EX_USAGE, reasonOf, UsageError } from './commands/failures.ts';
import { COMMANDS } from './commands/table.ts';
import { ConfigurationError } from './config/config.ts';
import { PoolerError } from './db/pooler.ts';
import { NewerSchemaError } from './db/schema.ts';
import { makeLog } from './log.ts';
import { version } from './version.ts';

const NAME_WIDTH = 2 + Math.max(...Object.keys(COMMANDS).map((name) => name.length));
const HELP = `Gatehouse reviews pull requests by the rules in their own repository.

Usage: gatehouse <command>

${Object.entries(COMMANDS)
  .map(([name, { summary }]) => `  ${name.padEnd(NAME_WIDTH)}${summary}`)
  .join('\n')}

  --help, --version; "gatehouse <command> --help" prints arguments, options, settings and exit codes

Environment variables configure Gatehouse; docs/settings.md lists them. Exit codes: 0 done, 1 failed,
64 wrong usage, 78 wrong configuration or a database schema that is newer than this version.
`;

/**
 * Where the relative paths of the command line begin. npm runs Gatehouse's scripts in Gatehouse's own folder, and sets
 * INIT_CWD to the folder that it was called from. In any other folder the variable comes from another project's script.
 */
function callersFolder(): string {
  const ownFolder = process.cwd() === dirname(import.meta.dirname);
  return (ownFolder ? process.env['INIT_CWD'] : undefined) ?? '.';
}

const complain = (line: string) => process.stderr.write(`${line}\n`);

/** Resolves with the exit code. */
async function main([name, ...args]: readonly string[]): Promise<number> {
  if (name === 'help' || name === '--help' || name === '-h') {
    process.stdout.write(HELP);
    return 0;
  }
  if (name === '--version') {
    process.stdout.write(`${version}\n`);
    return 0;
  }
  const row = name !== undefined && Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (row === undefined) {
    complain(name === undefined ? HELP : `Unknown command "${name}".\n\n${HELP}`);
    return EX_USAGE;
  }
  const command = await row.load();
  const { stdin, stdout, stderr, env } = process;
  const run = command.run(args, { stdin, stdout, stderr, env, folder: callersFolder() });
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

// The reader of the output may stop reading, as `head` does: that is no error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') {
    throw error;
  }
  process.exit();
});

process.exitCode = await main(process.argv.slice(2));
