import type pg from 'pg';
import { makePartitions, type Partitioning } from '../db/partitions.ts';
import { isMissingPartition } from '../db/sqlstate.ts';
import { inTransaction } from '../db/transaction.ts';

/**
 * A delivery and its frame have the time of one transaction, and so the same day. Days are made ahead by
 * `gatehouse migrate` and by the worker.
 */
export const DAYS: Partitioning = { tables: ['deliveries', 'frames'], unit: 'day', ahead: 7 };

/**
 * Runs what stores a delivery. Should it have no partition, because nothing has made one for a week or the database's
 * clock was set, it is made and the work is run again.
 */
export async function withDays<T>(pool: pg.Pool, timeoutMs: number, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isMissingPartition(error)) {
      throw error;
    }
    await inTransaction(pool, timeoutMs, (client) => makePartitions(client, DAYS));
    return work();
  }
}
