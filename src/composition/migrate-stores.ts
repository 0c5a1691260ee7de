import { type DatabaseWait, migrate } from '../db/migrate.ts';
import { installJobs } from '../jobs/queue/engine.ts';
import { QUEUES } from '../jobs/queues.ts';

/** Runs every migration, the job engine's included. Returns the names of those that were applied. */
export function migrateStores(databaseUrl: string, wait?: DatabaseWait): Promise<readonly string[]> {
  return migrate(databaseUrl, (client) => installJobs(client, QUEUES), wait);
}
