import { type DatabaseWait, migrate } from '../db/migrate.ts';
import { makePartitions } from '../db/partitions.ts';
import { DAYS } from '../inbox/days.ts';
import { installJobs } from '../jobs/queue/engine.ts';
import { QUEUES } from '../jobs/queues.ts';

/** Runs every migration, the job engine's included. Returns the names of those that were applied. */
export function migrateStores(databaseUrl: string, wait?: DatabaseWait): Promise<readonly string[]> {
  return migrate(
    databaseUrl,
    async (client) => {
      await client.query('BEGIN');
      await makePartitions(client, DAYS);
      await client.query('COMMIT');
      await installJobs(client, QUEUES);
    },
    wait,
  );
}
