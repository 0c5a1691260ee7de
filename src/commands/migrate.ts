import { parseArgs } from 'node:util';
import { migrateStores } from '../composition/migrate-stores.ts';
import { parseDatabaseConfig } from '../config/config.ts';
import { makeLog } from '../log.ts';
import { configured } from './failures.ts';
import type { Terminal } from './terminal.ts';
import { parseWait } from './wait.ts';

const HELP = `Usage: gatehouse migrate [--wait <seconds>]

Brings the schema of DATABASE_URL up to date, the job engine's included. Any number may run at once: one does the work
and the others wait for it.

Options:
  --wait <seconds>   how long to wait for a database that does not answer yet; by default 0
  --help             print this

Exit codes: 0 up to date, 1 failed, 64 wrong usage, 78 wrong configuration or a database schema that is newer.
`;

export async function migrate(args: readonly string[], { env, stdout }: Terminal): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: { wait: { type: 'string', default: '0' }, help: { type: 'boolean', short: 'h' } },
  });
  if (values.help === true) {
    stdout.write(HELP);
    return 0;
  }
  const waitSeconds = parseWait(values.wait);
  // As process 1 of a container it would otherwise ignore signals.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => process.exit(1));
  }
  const config = configured(parseDatabaseConfig(env));
  const log = makeLog(config.logLevel);
  const applied = await migrateStores(config.databaseUrl, {
    waitSeconds,
    onWait: (err) => log.info({ err }, 'waiting for the database'),
    onBlocked: (blockers) =>
      log.warn({ blockers }, 'the migration waits for a lock, and lets deliveries pass meanwhile'),
  });
  log.info({ applied }, applied.length > 0 ? 'migrated the schema' : 'the schema was already up to date');
  return 0;
}
