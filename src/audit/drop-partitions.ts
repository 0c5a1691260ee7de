import type pg from 'pg';
import { endedPartitions } from '../db/partitions.ts';
import { inTransaction } from '../db/transaction.ts';
import type { Log } from '../log.ts';
import { RECORD } from './partitions.ts';

const DROP_TIMEOUT_MS = 60_000;
/** Whoever adds a row meanwhile waits as long. The next retention tries again. */
const LOCK_TIMEOUT_MS = 1_000;

/** Drops the months that ended more than so many days ago; with 0 days, all of them. */
export async function dropOldPartitions(pool: pg.Pool, days: number, log: Log): Promise<void> {
  for (const { name } of await endedPartitions(pool, RECORD, days)) {
    await inTransaction(pool, DROP_TIMEOUT_MS, async (client) => {
      await client.query(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`);
      await client.query(`DROP TABLE IF EXISTS gatehouse.${client.escapeIdentifier(name)}`);
    });
    log.info({ partition: name, days }, 'a month of the record was dropped');
  }
}
