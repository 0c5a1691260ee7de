import { startService } from '../composition/service.ts';
import { describeSslMode, parseConfig, type Roles } from '../config/config.ts';
import { firstShutdownSignal } from '../lifecycle.ts';
import { makeLog } from '../log.ts';
import { defineCommand } from './command.ts';
import { configured, EX_CONFIG } from './failures.ts';
import type { Terminal } from './terminal.ts';

const EXIT_CODES = {
  0: 'stopped by a signal',
  1: 'failed',
  [EX_CONFIG]: 'invalid configuration, or a database schema that is newer than this version',
} as const;

export const serve = defineCommand({
  name: 'serve',
  usage: ['[--with-worker]'],
  text: `Receives webhooks until SIGTERM or SIGINT: POST /webhook and the health routes on PORT, /metrics on METRICS_PORT.
On SIGTERM or SIGINT, /health/ready fails. It serves requests for another DRAIN_SECONDS, then finishes those in flight.
A second signal ends the process immediately.`,
  options: {
    'with-worker': {
      type: 'boolean',
      default: false,
      help: 'also review pull requests in this process, for small installations',
    },
  },
  settings: 'docs/settings.md, for every process and the door, and with --with-worker for the worker.',
  exitCodes: EXIT_CODES,
  logs: true,
  run: ({ values }, terminal) => run({ door: true, worker: values['with-worker'] }, terminal),
});

export const work = defineCommand({
  name: 'work',
  usage: [''],
  text: `Reviews pull requests until SIGTERM or SIGINT. The health routes are on PORT, /metrics is on METRICS_PORT.
On SIGTERM or SIGINT, it starts no more reviews. It finishes those in progress, or puts them back in the queue.`,
  options: {},
  settings: 'docs/settings.md, for every process, the worker and the forge.',
  exitCodes: EXIT_CODES,
  logs: true,
  run: (_, terminal) => run({ door: false, worker: true }, terminal),
});

/** Runs until a signal stops it. */
async function run(roles: Roles, { env }: Terminal): Promise<0> {
  const config = configured(parseConfig(env, roles));
  const log = makeLog(config.logLevel);
  const sslMode = describeSslMode(env);
  if (sslMode !== undefined) {
    log.info(sslMode);
  }
  // Before anything listens, so that an early signal does not kill the process.
  const signal = firstShutdownSignal();
  const service = await startService(config, log);
  log.info({ signal: await signal }, 'received a signal, stopping');
  await service.drain();
  return 0;
}
