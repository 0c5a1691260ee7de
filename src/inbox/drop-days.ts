import type pg from 'pg';
import { type EndedPartition, endedPartitions } from '../db/partitions.ts';
import { sqlState } from '../db/sqlstate.ts';
import { onConnection } from '../db/transaction.ts';
import type { Log } from '../log.ts';
import { DAYS } from './days.ts';

const TIMEOUT_MS = 60_000;
/** A lock of the session: any number, as long as every version uses the same. */
const ADVISORY_LOCK = 4_201_883_919;

const WAITED_IN_VAIN: readonly (string | undefined)[] = [
  '55P03' /* lock_not_available */,
  '57014' /* query_canceled: statement_timeout */,
];

/**
 * Drops the days of deliveries that ended more than so many days ago. No delivery waits for it: a day is detached
 * concurrently, which waits for those that read it and lets all others pass. Where a report reads for longer than
 * `statement_timeout`, the next retention goes on.
 */
export async function dropOldDays(pool: pg.Pool, days: number, log: Log): Promise<void> {
  try {
    await onConnection(pool, TIMEOUT_MS, async (client) => {
      // Another retention is at it.
      const { rows } = await client.query<{ taken: boolean }>('SELECT pg_try_advisory_lock($1) AS taken', [
        ADVISORY_LOCK,
      ]);
      if (!rows[0]?.taken) {
        return;
      }
      // Deliveries before their frames: what is listed can be read.
      for (const partition of await endedPartitions(client, DAYS, days)) {
        await detach(client, partition);
        await client.query(`DROP TABLE gatehouse.${partition.name}`);
        log.info({ partition: partition.name, days }, 'a day of deliveries was dropped');
      }
      await client.query('SELECT pg_advisory_unlock($1)', [ADVISORY_LOCK]);
    });
  } catch (error) {
    if (!WAITED_IN_VAIN.includes(sqlState(error))) {
      throw error;
    }
    log.warn(
      { err: error },
      'a day of deliveries is being read and could not be dropped: the next retention tries again',
    );
  }
}

async function detach(client: pg.ClientBase, { name, parent, state }: EndedPartition): Promise<void> {
  if (state !== 'detached') {
    const how = state === 'detaching' ? 'FINALIZE' : 'CONCURRENTLY';
    await client.query(`ALTER TABLE gatehouse.${parent} DETACH PARTITION gatehouse.${name} ${how}`);
  }
}
