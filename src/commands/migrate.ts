import { migrateStores } from '../composition/migrate-stores.ts';
import { describeSslMode, parseDatabaseConfig } from '../config/config.ts';
import { makeLog } from '../log.ts';
import { defineCommand } from './command.ts';
import { configured, EX_CONFIG } from './failures.ts';
import { parseWait } from './options.ts';
import type { Terminal } from './terminal.ts';

export const migrate = defineCommand({
  name: 'migrate',
  usage: ['[--wait <seconds>]'],
  text: `Updates the database schema, including the job engine's. You can run several in parallel: one does the work, and the
others wait for it.`,
  options: {
    wait: {
      type: 'string',
      default: '0',
      value: 'seconds',
      help: 'how long to wait until the database answers; 0 by default',
    },
  },
  settings: 'DATABASE_URL, LOG_LEVEL',
  exitCodes: {
    0: 'the schema is up to date',
    1: 'failed',
    [EX_CONFIG]: 'invalid configuration, or a database schema that is newer than this version',
  },
  logs: true,
  async run({ values }, { env }) {
    await migrateSchema(parseWait(values.wait), env);
    return 0;
  },
});

async function migrateSchema(waitSeconds: number, env: Terminal['env']): Promise<void> {
  // As process 1 of a container it would otherwise ignore signals.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => process.exit(1));
  }
  const config = configured(parseDatabaseConfig(env));
  const log = makeLog(config.logLevel);
  const sslMode = describeSslMode(env);
  if (sslMode !== undefined) {
    log.info(sslMode);
  }
  const applied = await migrateStores(config.databaseUrl, {
    waitSeconds,
    onWait: (err) => log.info({ err }, 'waiting for the database'),
    onBlocked: (blockers) =>
      log.warn({ blockers }, 'the migration waits for a lock, and lets deliveries pass meanwhile'),
  });
  log.info({ applied }, applied.length > 0 ? 'migrated the schema' : 'the schema was already up to date');
}
