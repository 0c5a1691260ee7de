#!/usr/bin/env node
import { parseArgs } from 'node:util';
import { check } from './commands/check.ts';
import { PolicyFileError } from './commands/policy-file.ts';
import { send } from './commands/send.ts';
import { type Parsed, parseConfig, parseDatabaseConfig, parseSecret, type Roles } from './config.ts';
import { NewerSchemaError } from './db/migrate.ts';
import { firstShutdownSignal } from './lifecycle.ts';
import { makeLog } from './log.ts';
import { migrateStores, startService } from './service.ts';
import { version } from './version.ts';

const USAGE = `Gatehouse reviews pull requests by the rules in their own repository.

Usage: gatehouse <command>

  serve                    Receive webhooks: POST /webhook and the health routes on PORT, /metrics on METRICS_PORT
    --with-worker            review in the same process, for small installations
  work                     Review pull requests; the health routes on PORT, /metrics on METRICS_PORT
  migrate                  Bring the database schema up to date; any number may run at once
    --wait <seconds>         how long to wait for a database that is not there yet, by default 0
  check [file]             Check a policy file, .gatehouse.yml by default; see gatehouse check --help
  send <file> [options]    Sign a payload file ("-" is standard input) and post it, to try out settings
    --url <url>              where to, by default http://localhost:8080/webhook
    --event <type>           by default pull_request
    --delivery <id>          by default a new one

  --help, --version

Configuration is by environment variables; the README lists them. Exit codes: 0 done, 1 failed,
64 wrong usage, 78 wrong configuration or a database schema that is newer than this version.
`;

/** The exit codes of sysexits.h that mean these things. */
const EX_USAGE = 64;
const EX_CONFIG = 78;

const print = (line: string) => process.stdout.write(`${line}\n`);
const complain = (line: string) => process.stderr.write(`${line}\n`);

/** Resolves with the exit code. */
async function main(argv: readonly string[]): Promise<number> {
  const [command, ...args] = argv;
  switch (command) {
    case 'serve':
      return serve(args);
    case 'work':
      return work(args);
    case 'migrate':
      return runMigrations(args);
    case 'check':
      return check(args, process);
    case 'send':
      return runSend(args);
    case 'help':
    case '--help':
    case '-h':
      print(USAGE);
      return 0;
    case '--version':
      print(version);
      return 0;
    default:
      complain(command === undefined ? USAGE : `Unknown command "${command}".\n\n${USAGE}`);
      return EX_USAGE;
  }
}

async function serve(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({ args: [...args], options: { 'with-worker': { type: 'boolean', default: false } } });
  return run({ door: true, worker: values['with-worker'] });
}

async function work(args: readonly string[]): Promise<number> {
  parseArgs({ args: [...args], options: {} });
  return run({ door: false, worker: true });
}

/** Runs until it is asked to stop. */
async function run(roles: Roles): Promise<number> {
  const config = orFaults(parseConfig(process.env, roles));
  if (config === undefined) return EX_CONFIG;
  const log = makeLog(config.logLevel);
  // Before anything listens, so that a signal that comes at once is not the end of it.
  const signal = firstShutdownSignal();
  const service = await startService(config, log);
  log.info({ signal: await signal }, 'asked to stop');
  await service.drain();
  return 0;
}

async function runMigrations(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({ args: [...args], options: { wait: { type: 'string', default: '0' } } });
  if (!/^\d{1,4}$/.test(values.wait)) throw usageError('--wait takes whole seconds');
  // As the first process of a container it would otherwise be deaf to signals.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  const config = orFaults(parseDatabaseConfig(process.env));
  if (config === undefined) return EX_CONFIG;
  const log = makeLog(config.logLevel);
  const applied = await migrateStores(config.databaseUrl, {
    waitSeconds: Number(values.wait),
    onWait: (err) => log.info({ err }, 'waiting for the database'),
  });
  log.info({ applied }, applied.length > 0 ? 'the schema is up to date now' : 'the schema was up to date');
  return 0;
}

async function runSend(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      url: { type: 'string', default: 'http://localhost:8080/webhook' },
      event: { type: 'string', default: 'pull_request' },
      delivery: { type: 'string' },
    },
  });
  const [file, ...more] = positionals;
  if (file === undefined || more.length > 0) throw usageError('send takes one payload file');
  const secret = orFaults(parseSecret(process.env));
  if (secret === undefined) return EX_CONFIG;
  return send({ ...values, file, delivery: values.delivery, secret }, print);
}

function orFaults<T>(parsed: Parsed<T>): T | undefined {
  if (parsed.ok) return parsed.config;
  complain(`The configuration has ${parsed.faults.length === 1 ? 'a fault' : `${parsed.faults.length} faults`}:`);
  for (const fault of parsed.faults) complain(`  ${fault}`);
  return undefined;
}

function usageError(message: string): Error {
  return Object.assign(new Error(message), { code: 'ERR_PARSE_ARGS_USAGE' });
}

function exitCode(error: unknown): number {
  if (error instanceof NewerSchemaError || error instanceof PolicyFileError) return EX_CONFIG;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return code.startsWith('ERR_PARSE_ARGS') ? EX_USAGE : 1;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  const code = exitCode(error);
  if (code === EX_USAGE && error instanceof Error) complain(`${error.message}\n\n${USAGE}`);
  else makeLog('info').fatal({ err: error }, 'Gatehouse cannot go on');
  process.exitCode = code;
}
