import type pg from 'pg';
import type { PullRequestRef } from '../../forges/port/pull-request.ts';
import { JOBS_SCHEMA, type Kind, reviewKey } from './queue.ts';

/** A pull request whose review would be requested; with what it is like now, where that is the reason. */
export interface Candidate extends PullRequestRef {
  readonly now?: { readonly headSha: string; readonly baseBranch: string; readonly updatedAt: string };
}

const QUEUE: Kind = 'review';
/** SQL: a job that waits or runs, found by the engine's own index of these. The key is {@link reviewKey}. */
const jobOf = (key: string) =>
  `job.name = '${QUEUE}' AND coalesce(job.singleton_key, '') = ${key}
     AND job.state <= 'active' AND job.policy = 'stately'`;

/** SQL: whether a review of the pull request in a row of the table `reviews` runs. */
export const isReviewRunning = (row: string) =>
  `EXISTS (SELECT FROM ${JOBS_SCHEMA}.job
            WHERE ${jobOf(`${row}.repository || '#' || ${row}.pull_request`)} AND job.state = 'active')`;

/**
 * Those that no review looks at already. One that waits reads everything when it begins. One that runs has seen `now`
 * when it has recorded it; a first review that has recorded nothing yet compares with the present state before it ends.
 * `needs`: `end`: one that runs is as good as one that waits, whatever it has read.
 */
export async function notUnderReview<T extends Candidate>(
  pool: pg.Pool,
  candidates: readonly T[],
  needs: 'now' | 'end' = 'now',
): Promise<readonly T[]> {
  if (candidates.length === 0) {
    return [];
  }
  const { rows } = await pool.query<{ key: string; seen: boolean }>(
    `SELECT candidate.key,
            bool_or(job.state < 'active' OR r.head_sha = '' OR $7
              OR (r.head_sha, r.base_branch, r.pull_request_updated_at) IS NOT DISTINCT FROM
                 (candidate.head_sha, candidate.base_branch, candidate.updated_at)) AS seen
       FROM unnest($1::text[], $2::text[], $3::int[], $4::text[], $5::text[], $6::timestamptz[])
              AS candidate (key, repository, pull_request, head_sha, base_branch, updated_at)
       JOIN ${JOBS_SCHEMA}.job ON ${jobOf('candidate.key')}
       LEFT JOIN gatehouse.reviews r USING (repository, pull_request)
      GROUP BY candidate.key`,
    [
      candidates.map(reviewKey),
      candidates.map(({ repository }) => repository),
      candidates.map(({ number }) => number),
      candidates.map(({ now }) => now?.headSha ?? null),
      candidates.map(({ now }) => now?.baseBranch ?? null),
      candidates.map(({ now }) => now?.updatedAt ?? null),
      needs === 'end',
    ],
  );
  const seen = new Set(rows.filter((row) => row.seen).map(({ key }) => key));
  return candidates.filter((candidate) => !seen.has(reviewKey(candidate)));
}
