import type pg from 'pg';
import { inTransaction } from '../db/transaction.ts';
import type { PostedStatus } from '../forges/port/postings.ts';
import type { PullRequestRef } from '../forges/port/pull-request.ts';
import { meaningOfSuccess } from '../review/verdict.ts';
import { ensurePartitions } from './partitions.ts';
import type { RecordFilter } from './read-record.ts';
import type { RecordedOverride } from './verdict-record.ts';

export const OUTCOMES = [
  ...(['passed', 'overridden', 'bypassed', 'not judged', 'not enforced', 'unclear'] as const),
  /** Pushed without a pull request. */
  'direct',
] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** What came to a branch: a pull request, or a push without one. */
export interface MergeRow {
  /** By the forge; of a push, when its webhook came. */
  readonly mergedAt: Date;
  readonly repositoryId: string;
  readonly repository: string;
  /** Null: a push without one. */
  readonly pullRequest: number | null;
  readonly baseBranch: string;
  readonly headSha: string | null;
  /** What it became on the base branch; of a push, its newest commit. */
  readonly mergeSha: string | null;
  /** Login of who merged or pushed; null where the forge does not say. */
  readonly mergedBy: string | null;
  readonly outcome: Outcome;
  /** The state of the last verdict on the head; null where the record has none. */
  readonly verdict: string | null;
  /** Where the outcome is `overridden`: who, and why. */
  readonly overrides: readonly RecordedOverride[];
}

/** Forges tell times in whole seconds. */
const SECOND_MS = 1_000;
/** Each says less for the merge than the one before. */
const GREENS = ['passed', 'overridden', 'not enforced', 'not judged'] as const;

/**
 * What a merge was, by what the forge itself has of our statuses: neither our clock nor a restored database bends it.
 * `own` are those of the commit that was merged, newest first. Of those of the merge's second nobody can tell which
 * stood: it is `unclear` where one of them, or what stood before, is a success and another is not.
 */
export function outcomeOf(own: readonly PostedStatus[], mergedAt: string): Outcome {
  const second = Math.floor(Date.parse(mergedAt) / SECOND_MS) * SECOND_MS;
  const at = ({ updatedAt = '' }: PostedStatus) => Date.parse(updatedAt);
  const before = own.find((status) => at(status) < second);
  const within = own.filter((status) => at(status) >= second && at(status) < second + SECOND_MS);
  const possible = [before, ...within];
  const greens = possible.flatMap((status) =>
    status?.state === 'success' ? meaningOfSuccess(status.description) : [],
  );
  if (greens.length > 0) {
    return greens.length < possible.length ? 'unclear' : (GREENS.findLast((one) => greens.includes(one)) ?? 'unclear');
  }
  return possible.every((status) => status === undefined) ? 'not judged' : 'bypassed';
}

const SAVE_TIMEOUT_MS = 10_000;

/**
 * Adds a merge to the record, once, unless it is so old that retention has dropped its row. Resolves to whether it was
 * added.
 */
export function saveMerge(pool: pg.Pool, merge: MergeRow, auditDays: number): Promise<boolean> {
  const { repositoryId, pullRequest, mergeSha, ...about } = merge;
  return inTransaction(pool, SAVE_TIMEOUT_MS, async (client) => {
    await ensurePartitions(client);
    // Whoever records the same meanwhile waits, and then finds it: no index of a partitioned table would refuse it.
    await client.query("SELECT pg_advisory_xact_lock(hashtextextended('merges of ' || $1, 0))", [repositoryId]);
    const { rowCount } = await client.query(
      `INSERT INTO gatehouse.merges (repository_id, pull_request, merge_sha, merged_at, repository, base_branch, head_sha,
                                     merged_by, outcome, verdict, overrides)
       SELECT $1::text, $2::int, $3::text, $4::timestamptz, $5, $6, $7, $8, $9, $10, $11
        WHERE $4 > now() - make_interval(days => $12)
          AND NOT EXISTS (
            SELECT FROM gatehouse.merges
             WHERE repository_id = $1 AND pull_request IS NOT DISTINCT FROM $2 AND ($2 IS NOT NULL OR merge_sha = $3))`,
      [
        ...[repositoryId, pullRequest, mergeSha, about.mergedAt, about.repository, about.baseBranch, about.headSha],
        ...[about.mergedBy, about.outcome, about.verdict, JSON.stringify(about.overrides), auditDays],
      ],
    );
    return rowCount === 1;
  });
}

/** The last verdict on a head; undefined where the record has none. */
export async function lastVerdict(
  pool: pg.Pool,
  { repository, number }: PullRequestRef,
  headSha: string,
): Promise<(Pick<MergeRow, 'overrides'> & { readonly state: string }) | undefined> {
  const { rows } = await pool.query<Pick<MergeRow, 'overrides'> & { readonly state: string }>(
    `SELECT state, overrides FROM gatehouse.audit_verdicts
      WHERE lower(repository) = lower($1) AND pull_request = $2 AND head_sha = $3 ORDER BY answered_at DESC LIMIT 1`,
    [repository, number, headSha],
  );
  return rows[0];
}

export async function hasMerge(pool: pg.Pool, repositoryId: string, pullRequest: number): Promise<boolean> {
  const { rowCount } = await pool.query(
    'SELECT FROM gatehouse.merges WHERE repository_id = $1 AND pull_request = $2 LIMIT 1',
    [repositoryId, pullRequest],
  );
  return rowCount !== 0;
}

const FILTER = `WHERE merged_at >= coalesce($2::timestamptz, '-infinity')
                  AND ($1::text IS NULL OR lower(repository) = lower($1))`;

/** The oldest first. */
export async function readMerges(pool: pg.Pool, { repository, since }: RecordFilter): Promise<readonly MergeRow[]> {
  const { rows } = await pool.query<MergeRow>(
    `SELECT merged_at AS "mergedAt", repository_id AS "repositoryId", repository, pull_request AS "pullRequest",
            base_branch AS "baseBranch", head_sha AS "headSha", merge_sha AS "mergeSha", merged_by AS "mergedBy", outcome,
            verdict, overrides
       FROM gatehouse.merges ${FILTER} ORDER BY merged_at, recorded_at`,
    [repository ?? null, since ?? null],
  );
  return rows;
}

export interface MergeCount {
  readonly outcome: Outcome;
  readonly merges: number;
}

/** The most frequent outcome first. */
export async function countMerges(pool: pg.Pool, { repository, since }: RecordFilter): Promise<readonly MergeCount[]> {
  const { rows } = await pool.query<MergeCount>(
    `SELECT outcome, count(*)::int AS merges FROM gatehouse.merges ${FILTER} GROUP BY outcome ORDER BY merges DESC, outcome`,
    [repository ?? null, since ?? null],
  );
  return rows;
}
