import type pg from 'pg';
import type { PullRequest, PullRequestRef } from '../forges/forge.ts';

/** Remembers the verdict on a head, so that a resync can tell which heads have none. */
export async function saveVerdict(
  pool: pg.Pool,
  { repository, number, head }: PullRequest,
  verdict: { readonly state: 'success' | 'failure' | 'error' | 'none'; readonly description: string },
): Promise<void> {
  await pool.query(
    `INSERT INTO gatehouse.reviews (repository, pull_request, head_sha, verdict, description)
     VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (repository, pull_request)
     DO UPDATE SET head_sha = excluded.head_sha, verdict = excluded.verdict,
                   description = excluded.description, reviewed_at = now()`,
    [repository, number, head.sha, verdict.state, verdict.description],
  );
}

export async function forgetVerdict(pool: pg.Pool, { repository, number }: PullRequestRef): Promise<void> {
  await pool.query('DELETE FROM gatehouse.reviews WHERE repository = $1 AND pull_request = $2', [repository, number]);
}

/** Those of the pull requests whose present head has no verdict. */
export async function withoutVerdict(
  pool: pg.Pool,
  pullRequests: readonly PullRequest[],
): Promise<readonly PullRequest[]> {
  const { rows } = await pool.query<{ ordinal: string }>(
    `SELECT open.ordinal
       FROM unnest($1::text[], $2::int[], $3::text[]) WITH ORDINALITY
              AS open (repository, pull_request, head_sha, ordinal)
       LEFT JOIN gatehouse.reviews r USING (repository, pull_request, head_sha)
      WHERE r.verdict IS NULL`,
    [
      pullRequests.map(({ repository }) => repository),
      pullRequests.map(({ number }) => number),
      pullRequests.map(({ head }) => head.sha),
    ],
  );
  return rows.flatMap(({ ordinal }) => pullRequests[Number(ordinal) - 1] ?? []);
}

/** Those with a row that are not among the open pull requests of their repository: closed, merged or deleted. */
export async function notOpen(
  pool: pg.Pool,
  repository: string,
  open: readonly PullRequest[],
): Promise<readonly PullRequestRef[]> {
  const { rows } = await pool.query<{ number: number }>(
    `SELECT pull_request AS number FROM gatehouse.reviews
      WHERE repository = $1 AND pull_request <> ALL ($2::int[]) ORDER BY pull_request`,
    [repository, open.map(({ number }) => number)],
  );
  return rows.map(({ number }) => ({ repository, number }));
}

/** Nothing is asked for it again, until a delivery comes from it. */
export async function forgetRepository(pool: pg.Pool, repository: string): Promise<void> {
  await pool.query(
    `WITH reviews AS (DELETE FROM gatehouse.reviews WHERE repository = $1),
          hooks AS (DELETE FROM gatehouse.hooks WHERE repository = $1)
     DELETE FROM gatehouse.repositories WHERE name = $1`,
    [repository],
  );
}
