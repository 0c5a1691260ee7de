#!/usr/bin/env node
import { dirname } from 'node:path';
import { EX_CONFIG, EX_USAGE, reasonOf, UsageError } from './commands/failures.ts';
import type { Terminal } from './commands/terminal.ts';
import { ConfigurationError } from './config/config.ts';
import { PoolerError } from './db/pooler.ts';
import { NewerSchemaError } from './db/schema.ts';
import { makeLog } from './log.ts';
import { version } from './version.ts';

interface Command {
  readonly usage: string;
  readonly summary: string;
  /** Whether it logs the error that stops it as JSON, instead of printing a sentence. */
  readonly logs?: boolean;
  /** Whether something that hangs may be left behind at its end, such as a connection. */
  readonly mayHang?: boolean;
  /** Resolves with the exit code. The modules of a command are loaded only when it runs. */
  run(args: readonly string[], terminal: Terminal): Promise<number>;
}

const COMMANDS: Readonly<Record<string, Command>> = {
  serve: {
    usage: 'serve',
    summary: 'Receive webhooks; with --with-worker review in the same process',
    logs: true,
    run: async (args, terminal) => (await import('./commands/serve.ts')).serve(args, terminal),
  },
  work: {
    usage: 'work',
    summary: 'Review pull requests',
    logs: true,
    run: async (args, terminal) => (await import('./commands/serve.ts')).work(args, terminal),
  },
  migrate: {
    usage: 'migrate',
    summary: 'Bring the database schema up to date; any number may run at once',
    logs: true,
    run: async (args, terminal) => (await import('./commands/migrate.ts')).migrate(args, terminal),
  },
  setup: {
    usage: 'setup [options]',
    summary: 'Connect Gatehouse to a forge, and write the settings that it runs with',
    run: async (args, terminal) =>
      (await import('./commands/setup/setup.ts')).setup(args, terminal, { input: process.stdin }),
  },
  check: {
    usage: 'check [file]',
    summary: 'Check a policy file, .gatehouse.yml by default',
    run: async (args, terminal) => (await import('./commands/check.ts')).check(args, terminal, callersFolder()),
  },
  test: {
    usage: 'test [file]',
    summary: 'Run the cases of a policy: what its rules make of pull requests in short',
    run: async (args, terminal) => (await import('./commands/test.ts')).test(args, terminal, callersFolder()),
  },
  explain: {
    usage: 'explain <pull request URL>',
    summary: 'Judge a pull request without writing anything, and explain the result',
    run: async (args, terminal) => (await import('./commands/explain.ts')).explain(args, terminal, callersFolder()),
  },
  init: {
    usage: 'init <repository>',
    summary: 'Print a policy of recipes that the last merged pull requests met; --write writes it',
    run: async (args, terminal) => (await import('./commands/history/init.ts')).init(args, terminal, callersFolder()),
  },
  backtest: {
    usage: 'backtest <repository>',
    summary: 'Judge the pull requests that were merged last: what a policy would have stopped',
    run: async (args, terminal) =>
      (await import('./commands/history/backtest.ts')).backtest(args, terminal, callersFolder()),
  },
  doctor: {
    usage: 'doctor [owner/repository]',
    summary: 'Check the configuration, the stores, the forge, and how a repository is set up',
    mayHang: true,
    run: async (args, terminal) => (await import('./commands/doctor/doctor.ts')).doctor(args, terminal),
  },
  deliveries: {
    usage: 'deliveries [options]',
    summary: 'List the webhooks that were acknowledged',
    run: async (args, terminal) => (await import('./commands/records/deliveries.ts')).deliveries(args, terminal),
  },
  audit: {
    usage: 'audit [pull request URL]',
    summary: 'Print the record of verdicts: of a pull request, or since a time',
    run: async (args, terminal) => (await import('./commands/records/audit.ts')).audit(args, terminal),
  },
  report: {
    usage: 'report [options]',
    summary: 'Say which rules fail most, are overridden most, and take longest to pass',
    run: async (args, terminal) => (await import('./commands/records/report.ts')).report(args, terminal),
  },
  replay: {
    usage: 'replay <delivery id…>',
    summary: 'Queue the review of a delivery again, or all failed reviews: --dead-letters',
    run: async (args, terminal) => (await import('./commands/records/replay.ts')).replay(args, terminal),
  },
  send: {
    usage: 'send <file>',
    summary: 'Sign a payload and send it, to test the settings',
    run: async (args, terminal) => (await import('./commands/send.ts')).send(args, terminal),
  },
};

const USAGE_WIDTH = 2 + Math.max(...Object.values(COMMANDS).map(({ usage }) => usage.length));
const USAGE = `Gatehouse reviews pull requests by the rules in their own repository.

Usage: gatehouse <command>

${Object.values(COMMANDS)
  .map(({ usage, summary }) => `  ${usage.padEnd(USAGE_WIDTH)}${summary}`)
  .join('\n')}

  --help, --version; "gatehouse <command> --help" says more of each

Configuration is by environment variables; docs/settings.md lists them. Exit codes: 0 done, 1 failed,
64 wrong usage, 78 wrong configuration or a database schema that is newer than this version.
`;

/**
 * Where the paths of the command line begin, if not in the present folder. npm runs our scripts in our own folder, and says in
 * INIT_CWD where it was called from. In any other folder the variable is that of another script, such as one that commits.
 */
function callersFolder(): string | undefined {
  return process.cwd() === dirname(import.meta.dirname) ? process.env['INIT_CWD'] : undefined;
}

const complain = (line: string) => process.stderr.write(`${line}\n`);

/** Resolves with the exit code. */
async function main([name, ...args]: readonly string[]): Promise<number> {
  if (name === 'help' || name === '--help' || name === '-h') {
    process.stdout.write(USAGE);
    return 0;
  }
  if (name === '--version') {
    process.stdout.write(`${version}\n`);
    return 0;
  }
  const command = name !== undefined && Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (name === undefined || command === undefined) {
    complain(name === undefined ? USAGE : `Unknown command "${name}".\n\n${USAGE}`);
    return EX_USAGE;
  }
  const { stdin, stdout, stderr } = process;
  const run = command.run(args, { stdin, stdout, stderr, env: process.env });
  const code = await run.catch((error: unknown) => stopped(name, command, error));
  // A store that hangs does not close its half of a connection, which would keep the process.
  if (command.logs || command.mayHang) {
    process.exit(code);
  }
  return code;
}

/** Reports what stopped a command. Returns its exit code. */
function stopped(name: string, { usage, logs }: Command, error: unknown): number {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (error instanceof UsageError || code.startsWith('ERR_PARSE_ARGS')) {
    complain(`gatehouse ${name}: ${reasonOf(error)}\n\nUsage: gatehouse ${usage}; see gatehouse ${name} --help`);
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
