import type pg from 'pg';
import { DEAD_LETTERS, JOBS_SCHEMA, type Kind, kindsOf, type QueueTable } from './queue.ts';

export interface QueueStats {
  readonly queue: string;
  /** Waiting to be run, whether for the first time or again. */
  readonly waiting: number;
  readonly active: number;
  /** Failed within the last minutes: finished jobs are then deleted. */
  readonly failed: number;
  /**
   * Seconds that the oldest job which could run has waited; 0 when none waits, and for turns, which wait for one another,
   * and dead letters, which never run.
   */
  readonly oldestWaitingSeconds: number;
}

const UNHURRIED: readonly (Kind | typeof DEAD_LETTERS)[] = ['turn', DEAD_LETTERS];

/** A little less than the interval at which a process asks, so that one process alone counts each time. */
const COUNT_SECONDS = 9;
/** An older count is not reported: the process that counts hangs. */
const MAX_AGE_SECONDS = 60;

/**
 * Jobs that wait or run are counted in the job engine's partial indexes, and never by reading its table, which also has
 * the finished ones. The engine itself counts those that failed, whenever its workers have finished some.
 */
const COUNT = `
  SELECT q.name AS queue, q.failed_count AS failed, waiting.*, active.*
    FROM ${JOBS_SCHEMA}.queue q,
         LATERAL (SELECT count(*)::int AS waiting,
                         min(start_after) FILTER (WHERE start_after <= now() AND q.name <> ALL ($2)) AS oldest
                    FROM ${JOBS_SCHEMA}.job WHERE name = q.name AND state < 'active' AND NOT blocked) waiting,
         LATERAL (SELECT count(*)::int AS active
                    FROM ${JOBS_SCHEMA}.job WHERE name = q.name AND state = 'active' AND policy = 'stately') active
   WHERE q.name = ANY ($1)`;

/**
 * The queues as they were counted within the last minute; undefined when nobody could count them. All processes share
 * one count: the first that asks when it is due makes it, and the others do not wait for it.
 */
export async function readQueueStats(
  pool: pg.Pool | pg.ClientBase,
  queues: QueueTable,
): Promise<readonly QueueStats[] | undefined> {
  await pool.query(
    `UPDATE gatehouse.progress
        SET done_until = now(), value = (SELECT jsonb_agg(to_jsonb(counted)) FROM (${COUNT}) AS counted)
      WHERE task = (SELECT task FROM gatehouse.progress
                     WHERE task = 'count-queues' AND done_until < now() - make_interval(secs => $3)
                       FOR UPDATE SKIP LOCKED)`,
    [[...kindsOf(queues), DEAD_LETTERS], UNHURRIED, COUNT_SECONDS],
  );
  const { rows } = await pool.query<QueueStats>(
    `SELECT queue, waiting, active, failed,
            coalesce(greatest(0, extract(epoch FROM now() - oldest)), 0)::float8 AS "oldestWaitingSeconds"
       FROM gatehouse.progress,
            jsonb_to_recordset(value) AS (queue text, waiting int, active int, failed int, oldest timestamptz)
      WHERE task = 'count-queues' AND done_until > now() - make_interval(secs => $1)`,
    [MAX_AGE_SECONDS],
  );
  return rows.length === 0 ? undefined : rows;
}
