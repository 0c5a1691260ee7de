import { parseArgs } from 'node:util';
import { startService } from '../composition/service.ts';
import { parseConfig, type Roles } from '../config/config.ts';
import { firstShutdownSignal } from '../lifecycle.ts';
import { makeLog } from '../log.ts';
import { configured } from './failures.ts';
import type { Terminal } from './terminal.ts';

const SERVE_HELP = `Usage: gatehouse serve [--with-worker]

Receives webhooks until SIGTERM or SIGINT: POST /webhook and the health routes on PORT, /metrics on METRICS_PORT.
On SIGTERM or SIGINT it turns unready, serves on for DRAIN_SECONDS, finishes what it took and ends; a second signal
ends it at once.

Options:
  --with-worker   review in the same process, too, for small installations
  --help          print this

Exit codes: 0 stopped by a signal, 1 failed, 64 wrong usage, 78 wrong configuration or a database schema that is newer.
`;

const WORK_HELP = `Usage: gatehouse work

Reviews pull requests until SIGTERM or SIGINT. The health routes are on PORT, /metrics is on METRICS_PORT. On SIGTERM
or SIGINT it takes no more reviews; those under way finish, or go back to their queue.

Exit codes: 0 stopped by a signal, 1 failed, 64 wrong usage, 78 wrong configuration or a database schema that is newer.
`;

export async function serve(args: readonly string[], terminal: Terminal): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: { 'with-worker': { type: 'boolean', default: false }, help: { type: 'boolean', short: 'h' } },
  });
  if (values.help === true) {
    terminal.stdout.write(SERVE_HELP);
    return 0;
  }
  return run({ door: true, worker: values['with-worker'] }, terminal);
}

export async function work(args: readonly string[], terminal: Terminal): Promise<number> {
  const { values } = parseArgs({ args: [...args], options: { help: { type: 'boolean', short: 'h' } } });
  if (values.help === true) {
    terminal.stdout.write(WORK_HELP);
    return 0;
  }
  return run({ door: false, worker: true }, terminal);
}

/** Runs until it is asked to stop. */
async function run(roles: Roles, { env }: Terminal): Promise<number> {
  const config = configured(parseConfig(env, roles));
  const log = makeLog(config.logLevel);
  // Before anything listens, so that an early signal does not kill the process.
  const signal = firstShutdownSignal();
  const service = await startService(config, log);
  log.info({ signal: await signal }, 'received a signal, stopping');
  await service.drain();
  return 0;
}
