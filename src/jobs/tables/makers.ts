import type pg from 'pg';
import type { Makers, PullRequestPush } from '../../facts/authors/makers.ts';
import type { ReviewRequest } from '../../forges/port/review-requests.ts';

/** The limit for one pull request. Whoever names more in its commits can have nobody's approval counted for it. */
const MAX_KEPT = 2_000;

/**
 * Records who pushed. It belongs to the transaction of the delivery: a review that it starts knows it, and one of a
 * delivery that is never repeated does not lack it.
 */
export function recordPushes(requests: readonly ReviewRequest[]): readonly pg.QueryConfig[] {
  const pushes = requests.flatMap(pushIn);
  const columns = [0, 1, 2, 3, 4].map((column) => pushes.map((push) => push[column]));
  return pushes.length === 0 ? [] : [{ ...RECORD, values: columns }];
}

type Row = readonly [repository: string, pullRequest: number, sha: string, login: string, from: string | null];

function pushIn(request: ReviewRequest): readonly Row[] {
  switch (request.kind) {
    case 'push':
      return [[request.repository, 0, request.after, loginOf(request.by), request.before ?? null]];
    case 'review': {
      const { repository, number, pushed } = request;
      if (pushed === undefined) {
        return [];
      }
      const told = [pushed.sha, loginOf(pushed.by), pushed.from ?? null] as const;
      const own: Row = [repository, number, ...told];
      // Another pull request from there may have the same commits.
      return pushed.repository === undefined ? [own] : [own, [pushed.repository, 0, ...told]];
    }
    default:
      return [];
  }
}

function loginOf(login: string | undefined): string {
  return login?.toLowerCase() ?? '';
}

/**
 * Gitea and Forgejo tell from what it was moved only of the branch, and not of the pull request. Of two branches that
 * somebody moved to one commit, what either had does not count.
 */
const ADD_FROM = `ON CONFLICT (repository, pull_request, base_branch, sha, login)
          DO UPDATE SET is_update = false,
                        pushed_from = CASE WHEN makers.pushed_from IS NULL THEN excluded.pushed_from ELSE '' END
           WHERE makers.pushed_from IS DISTINCT FROM excluded.pushed_from AND excluded.pushed_from IS NOT NULL`;

const RECORD = {
  name: 'record pushes',
  // In one order everywhere, so that two transactions cannot wait for each other.
  text: `INSERT INTO gatehouse.makers (repository, pull_request, sha, login, pushed_from)
         SELECT repository, pull_request, sha, login, CASE WHEN min(came) < max(came) THEN '' ELSE min(came) END
           FROM unnest($1::text[], $2::int[], $3::text[], $4::text[], $5::text[]) AS told (repository, pull_request, sha, login, came)
          GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4 ${ADD_FROM}`,
};

export function makersIn(pool: pg.Pool): Makers {
  return {
    async pushes({ repository, number, head }, shas) {
      // What was told of a push becomes the pull request's own, which is kept as long as it is open. That the head was
      // pushed is certain, also where no webhook told by whom. What is there already stays as it is, and is not locked.
      await pool.query(
        `INSERT INTO gatehouse.makers (repository, pull_request, sha, login, pushed_from)
         SELECT $1, $2::int, sha, login, pushed_from
           FROM (SELECT sha, login, pushed_from FROM gatehouse.makers
                  WHERE repository = $5 AND pull_request = 0 AND base_branch = '' AND login <> ''
                    AND sha = ANY ($3::text[] || ARRAY(
                      SELECT sha FROM gatehouse.makers WHERE repository = $1 AND pull_request = $2 AND base_branch = ''))
                  UNION ALL SELECT $4, '', NULL) AS told
          WHERE NOT EXISTS (
            SELECT FROM gatehouse.makers own
             WHERE own.repository = $1 AND own.pull_request = $2 AND own.base_branch = ''
               AND own.sha = told.sha AND own.login = told.login
               AND (told.pushed_from IS NULL OR own.pushed_from IN (told.pushed_from, '')))
          ORDER BY sha, login ${ADD_FROM}`,
        [repository, number, shas, head.sha, head.repository],
      );
      const { rows } = await pool.query<PullRequestPush>(
        `SELECT sha, login AS by, pushed_from AS "from", is_update AS "isUpdate" FROM gatehouse.makers
          WHERE repository = $1 AND pull_request = $2 AND base_branch = '' AND sha <> '' ORDER BY sha, login`,
        [repository, number],
      );
      return rows;
    },
    async remember({ repository, number, base }, logins, updates) {
      const place = [repository, number, base.branch];
      if (updates.length > 0) {
        await pool.query(
          `UPDATE gatehouse.makers SET is_update = true
            WHERE repository = $1 AND pull_request = $2 AND base_branch = ''
              AND (sha, login) IN (SELECT * FROM unnest($3::text[], $4::text[]))`,
          [repository, number, updates.map(({ sha }) => sha), updates.map(({ by }) => by)],
        );
      }
      await pool.query(
        `INSERT INTO gatehouse.makers (repository, pull_request, base_branch, login)
         SELECT $1, $2, $3, login FROM unnest($4::text[]) AS login
          WHERE (SELECT count(*) FROM gatehouse.makers WHERE repository = $1 AND pull_request = $2 AND sha = '') < $5
          ORDER BY login ON CONFLICT DO NOTHING`,
        [...place, [...new Set(logins)], MAX_KEPT],
      );
      const { rows } = await pool.query<{ login: string; all: string }>(
        `SELECT login, (SELECT count(*) FROM gatehouse.makers WHERE repository = $1 AND pull_request = $2 AND sha = '') AS all
           FROM gatehouse.makers
          WHERE repository = $1 AND pull_request = $2 AND base_branch = $3 AND sha = '' ORDER BY login`,
        place,
      );
      return Number(rows[0]?.all ?? 0) >= MAX_KEPT ? null : rows.map(({ login }) => login);
    },
  };
}
