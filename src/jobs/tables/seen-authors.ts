import type pg from 'pg';
import type { PullRequest } from '../../forges/port/pull-request.ts';

/** The limit for one pull request. Whoever names more in its commits can have nobody's approval counted for it. */
const MAX_KEPT = 2_000;

/**
 * Adds those who made the commits of a pull request to those of earlier heads, and returns all of them; null when they
 * are more than are kept. Of each base branch by itself: a pull request that is opened into the wrong one has the
 * commits of others.
 */
export async function rememberAuthors(
  pool: pg.Pool,
  { repository, number, base }: Pick<PullRequest, 'repository' | 'number' | 'base'>,
  logins: readonly string[],
): Promise<readonly string[] | null> {
  const place = [repository, number, base.branch];
  // In the same order everywhere, so that two at once cannot wait for each other.
  await pool.query(
    `INSERT INTO gatehouse.seen_authors (repository, pull_request, base_branch, login)
     SELECT $1, $2, $3, login FROM unnest($4::text[]) AS login
      WHERE EXISTS (SELECT FROM gatehouse.reviews WHERE repository = $1 AND pull_request = $2)
        AND (SELECT count(*) FROM gatehouse.seen_authors WHERE repository = $1 AND pull_request = $2) < $5
      ORDER BY login ON CONFLICT DO NOTHING`,
    [...place, [...new Set(logins)], MAX_KEPT],
  );
  const { rows } = await pool.query<{ login: string; all: string }>(
    `SELECT login, (SELECT count(*) FROM gatehouse.seen_authors WHERE repository = $1 AND pull_request = $2) AS all
       FROM gatehouse.seen_authors
      WHERE repository = $1 AND pull_request = $2 AND base_branch = $3 ORDER BY login`,
    place,
  );
  return Number(rows[0]?.all ?? 0) >= MAX_KEPT ? null : rows.map(({ login }) => login);
}
