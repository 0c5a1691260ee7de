import type pg from 'pg';
import type { PullRequestRef } from '../../forges/port/pull-request.ts';
import type { RuleSources } from '../../review/rules-of.ts';
import { isReviewRunning } from '../queue/under-review.ts';

/** A review whose rules are compared with those of today. */
export interface JudgedReview extends PullRequestRef {
  readonly baseBranch: string;
  /** Null: it was not judged. */
  readonly rules: RuleSources | null;
}

const COLUMNS = `repository, pull_request AS number, base_branch AS "baseBranch", rules`;

/** Those of a repository. */
export async function reviewsOf(pool: pg.Pool, repository: string): Promise<readonly JudgedReview[]> {
  const { rows } = await pool.query<JudgedReview>(
    `SELECT ${COLUMNS} FROM gatehouse.reviews WHERE repository = $1 AND head_sha <> '' ORDER BY pull_request`,
    [repository],
  );
  return rows;
}

const MAX_ROWS_READ = 1_000;

/** Those of all repositories that were judged, in pages. */
export async function* allJudgedReviews(pool: pg.Pool): AsyncGenerator<readonly JudgedReview[]> {
  let last: PullRequestRef | undefined = { repository: '', number: 0 };
  while (last !== undefined) {
    const { rows }: { rows: JudgedReview[] } = await pool.query<JudgedReview>(
      `SELECT ${COLUMNS} FROM gatehouse.reviews
        WHERE rules IS NOT NULL AND (repository, pull_request) > ($1, $2)
        ORDER BY repository, pull_request LIMIT $3`,
      [last.repository, last.number, MAX_ROWS_READ],
    );
    yield rows;
    last = rows.at(-1);
  }
}

export interface DependentReview extends JudgedReview {
  /** It may have read the rules already, and has not saved its verdict. */
  readonly isRunning: boolean;
}

/**
 * Reviews that a push to the branch can concern: by their base, or by the policy that theirs extends. Of one that runs
 * for the first time, the base may not be known yet.
 */
export async function reviewsThatDependOn(
  pool: pg.Pool,
  repository: string,
  branch: string,
): Promise<readonly DependentReview[]> {
  // In one statement: a review that has ended is seen with its verdict.
  const { rows } = await pool.query<DependentReview>(
    `SELECT * FROM (
       SELECT ${COLUMNS}, ${isReviewRunning('r')} AS "isRunning"
         FROM gatehouse.reviews r
        WHERE (repository = $1 AND base_branch IN ($2, ''))
           OR lower(rules->>'extendsName') = lower($1 || '@' || $2)
     ) AS dependent
      WHERE "baseBranch" <> '' OR "isRunning"
      ORDER BY repository, number`,
    [repository, branch],
  );
  return rows;
}

/**
 * Those that a push was told of after they were judged. One that was taken to bring merges alone is another where it was
 * moved from something else. A review that runs may miss it: the next resync finds that one.
 */
export async function withNewPusher(pool: pg.Pool, repository: string): Promise<readonly PullRequestRef[]> {
  const { rows } = await pool.query<PullRequestRef>(
    `SELECT repository, pull_request AS number FROM gatehouse.reviews r
      WHERE repository = $1 AND pushes IS NOT NULL AND EXISTS (
        SELECT FROM (SELECT jsonb_array_elements_text(pushes->'unseen')
                      UNION
                     SELECT sha FROM gatehouse.makers own
                      WHERE own.repository = r.repository AND own.pull_request = r.pull_request AND own.base_branch = '') AS known (sha)
          JOIN gatehouse.makers told
            ON told.repository = pushes->>'to' AND told.pull_request = 0 AND told.base_branch = '' AND told.sha = known.sha
         WHERE told.login <> ''
           AND NOT EXISTS (
             SELECT FROM gatehouse.makers own
              WHERE own.repository = r.repository AND own.pull_request = r.pull_request AND own.base_branch = ''
                AND own.sha = told.sha AND own.login = told.login
                AND (NOT own.is_update OR told.pushed_from IS NULL OR own.pushed_from IN (told.pushed_from, ''))))
      ORDER BY pull_request`,
    [repository],
  );
  return rows;
}
