import type pg from 'pg';
import { dropOldPartitions } from '../audit/drop-partitions.ts';
import { makePartitions } from '../db/partitions.ts';
import { inTransaction } from '../db/transaction.ts';
import { DAYS } from '../inbox/days.ts';
import { dropOldDays } from '../inbox/drop-days.ts';
import type { Log } from '../log.ts';
import { inPacedBatches } from './paced-batches.ts';
import { MAY_BE_GREEN } from './tables/statuses.ts';

/** So few that a delivery which waits behind a batch does not notice: some milliseconds. */
const BATCH_ROWS = 200;
/** Well below the time after which the job engine takes a job for lost. */
const MAX_PIECE_MS = 10 * 60_000;

/**
 * For how long a delivery that comes again is found: GitHub redelivers for three days, GitHub Enterprise Server for
 * seven. Gitea and Forgejo give a redelivery a new id.
 */
const KEY_DAYS = 8;

const DAYS_TIMEOUT_MS = 10_000;

/**
 * An override that was edited must not count when its pull request is reopened, however late. Rows are small and few.
 */
const COMMENT_DAYS = 400;

export interface RetentionDeps {
  readonly pool: pg.Pool;
  readonly days: number;
  readonly log: Log;
  /** Ends the deletion early, because the process stops. */
  readonly signal: AbortSignal;
}

/** What a job of the queue needs. */
export interface RetentionPieceDeps {
  readonly pool: pg.Pool;
  readonly retentionDays: number;
  readonly auditDays: number;
  readonly log: Log;
  readonly requestPeriodic: (kind: 'retention') => Promise<void>;
  readonly stopping: AbortSignal;
}

/** Runs the retention until it ends, or until another job continues it. */
export async function retentionPiece(deps: RetentionPieceDeps): Promise<void> {
  const { pool, log, stopping: signal } = deps;
  await inTransaction(pool, DAYS_TIMEOUT_MS, (client) => makePartitions(client, DAYS));
  const state = await applyRetention({ pool, days: deps.retentionDays, log, signal });
  if (state === 'unfinished' && !signal.aborted) {
    await deps.requestPeriodic('retention');
  }
  await dropOldPartitions(pool, deps.auditDays, log);
}

/** Removes what is older than so many days. `unfinished`: there is more of it for the next piece. */
export async function applyRetention(deps: RetentionDeps): Promise<'finished' | 'unfinished'> {
  await dropOldDays(deps.pool, deps.days, deps.log);
  for (const piece of [forgetKeys, deleteStatuses, deleteMakers, deleteOverrideComments]) {
    if ((await piece(deps)) === 'unfinished') {
      return 'unfinished';
    }
  }
  return 'finished';
}

/** `$1` of the statement is the days, and `$2` how many rows it deletes at most. */
function deleteOlder({ pool, signal }: RetentionDeps, days: number, statement: string) {
  return inPacedBatches(
    async () => {
      const { rowCount } = await pool.query(statement, [days, BATCH_ROWS]);
      return (rowCount ?? 0) < BATCH_ROWS ? 'last' : 'more';
    },
    { maxMs: MAX_PIECE_MS, signal },
  );
}

/** Those of open pull requests are kept: whoever made a commit long ago has still made it. */
const deleteMakers = (deps: RetentionDeps) =>
  deleteOlder(
    deps,
    deps.days,
    `DELETE FROM gatehouse.makers
      WHERE ctid = ANY (ARRAY(
        SELECT m.ctid FROM gatehouse.makers m
         WHERE seen_at < now() - make_interval(days => $1)
           AND NOT EXISTS (
             SELECT FROM gatehouse.reviews r WHERE r.repository = m.repository AND r.pull_request = m.pull_request)
         ORDER BY seen_at LIMIT $2))`,
  );

const deleteOverrideComments = (deps: RetentionDeps) =>
  deleteOlder(
    deps,
    COMMENT_DAYS,
    `DELETE FROM gatehouse.override_comments
      WHERE (repository, comment_id) IN (
        SELECT repository, comment_id FROM gatehouse.override_comments c
         WHERE seen_at < now() - make_interval(days => $1)
           AND NOT EXISTS (
             SELECT FROM gatehouse.reviews r WHERE r.repository = c.repository AND r.pull_request = c.pull_request)
         ORDER BY seen_at LIMIT $2)`,
  );

const deleteStatuses = (deps: RetentionDeps) =>
  deleteOlder(
    deps,
    deps.days,
    `DELETE FROM gatehouse.statuses
      WHERE (repository, head_sha, key) IN (
        SELECT repository, head_sha, key FROM gatehouse.statuses s
         WHERE posted_at < now() - make_interval(days => $1)
           -- Where a success may stand that nobody has merged, it is still to be withdrawn.
           AND (merged OR merge_group IS NOT NULL OR takes = 'nothing' OR NOT ${MAY_BE_GREEN})
           -- Those of open pull requests: their success is withdrawn later, and set again with another ENFORCE.
           AND NOT EXISTS (
             SELECT FROM gatehouse.reviews r
              WHERE r.repository = s.repository AND r.head_sha = s.head_sha)
         ORDER BY posted_at LIMIT $2)`,
  );

/**
 * Rows are narrow, and the index has them in their order: a batch changes few pages. Each batch continues where the one
 * before ended, because the index still has the entries of deleted rows until it is vacuumed.
 */
async function forgetKeys({ pool, signal }: RetentionDeps): Promise<'finished' | 'unfinished'> {
  let from = '-infinity';
  return inPacedBatches(
    async () => {
      const { rows } = await pool.query<{ count: number; newest: string | null }>(
        `WITH deleted AS (
           DELETE FROM gatehouse.delivery_keys
            -- By their place in the table, which does not change, since rows are never updated.
            WHERE ctid = ANY (ARRAY(
                    SELECT ctid FROM gatehouse.delivery_keys
                     WHERE received_at >= $1 AND received_at < now() - make_interval(days => $2)
                     ORDER BY received_at LIMIT $3))
           RETURNING received_at)
         SELECT count(*)::int AS count, max(received_at)::text AS newest FROM deleted`,
        [from, KEY_DAYS, BATCH_ROWS],
      );
      from = rows[0]?.newest ?? from;
      return (rows[0]?.count ?? 0) < BATCH_ROWS ? 'last' : 'more';
    },
    { maxMs: MAX_PIECE_MS, signal },
  );
}
