import type pg from 'pg';
import type { PullRequestRef } from '../../forges/port/pull-request.ts';
import type { YesNo } from '../../forges/port/yes-no.ts';
import { firstDifference, type JudgedBy, type PresentContext, presentReader } from '../../review/judged-by.ts';
import { isReviewRunning } from '../queue/under-review.ts';

export interface JudgedReview extends PullRequestRef {
  readonly headSha: string;
  readonly baseBranch: string;
  /** Null: it was not judged. */
  readonly judgedBy: JudgedBy | null;
  /** Whether a webhook has told since who else pushed a commit of it. */
  readonly hasNewPusher?: boolean;
}

/** What the rules are now. Everything is read once, and only when a verdict was judged by another. */
export interface PresentRules {
  /** The reviews whose verdict was judged by other rules than those of today. */
  outdated(reviews: readonly JudgedReview[], options?: CompareOptions): Promise<readonly JudgedReview[]>;
}

interface CompareOptions {
  /**
   * The commit at the tip of a review's base branch, where it was read already. Null: there is no such branch.
   * Undefined: unknown.
   */
  readonly tipOf?: (review: JudgedReview) => string | null | undefined;
  /**
   * Whether the facts that a verdict was judged by are read again and compared: the webhook of a change may be lost, or
   * there is none.
   */
  readonly facts?: boolean;
  /** Who may write, as far as it was read already. */
  readonly told?: ReadonlyMap<string, YesNo> | undefined;
}

export function readPresentRules(context: PresentContext): PresentRules {
  const reader = presentReader(context);

  async function isOutdated(review: JudgedReview, { tipOf, facts = false, told }: CompareOptions): Promise<boolean> {
    const { repository, baseBranch, judgedBy, hasNewPusher = false } = review;
    if (judgedBy === null || hasNewPusher) {
      return true;
    }
    const tip = tipOf?.(review);
    const difference = await firstDifference(judgedBy, {
      ...reader.of(repository, baseBranch),
      ...(tip !== undefined && { baseCommit: async () => tip ?? undefined }),
      ...(facts && {
        fact: (name, parts) => reader.fact(name, { ...review, told }, parts),
      }),
    });
    return difference !== undefined;
  }

  return {
    async outdated(reviews, options = {}) {
      const found: JudgedReview[] = [];
      for (const review of reviews) {
        if (await isOutdated(review, options)) {
          found.push(review);
        }
      }
      return found;
    },
  };
}

const COLUMNS = `repository, pull_request AS number, head_sha AS "headSha", base_branch AS "baseBranch", judged_by AS "judgedBy"`;

/**
 * A push of a commit whose pushes matter, that no review has copied to its pull request. One that was taken to bring
 * merges alone is another where it was moved from something else.
 */
const HAS_NEW_PUSHER = `r.judged_by->'unseenPushes' IS NOT NULL AND EXISTS (
  SELECT FROM (SELECT jsonb_array_elements_text(r.judged_by->'unseenPushes')
                UNION
               SELECT sha FROM gatehouse.makers own
                WHERE own.repository = r.repository AND own.pull_request = r.pull_request AND own.base_branch = '') AS known (sha)
    JOIN gatehouse.makers told
      ON told.repository = r.judged_by->>'headRepository' AND told.pull_request = 0 AND told.base_branch = '' AND told.sha = known.sha
   WHERE told.login <> ''
     AND NOT EXISTS (
       SELECT FROM gatehouse.makers own
        WHERE own.repository = r.repository AND own.pull_request = r.pull_request AND own.base_branch = ''
          AND own.sha = told.sha AND own.login = told.login
          AND (NOT own.is_update OR told.pushed_from IS NULL OR own.pushed_from IN (told.pushed_from, ''))))`;

export async function reviewsOf(pool: pg.Pool, repository: string): Promise<readonly JudgedReview[]> {
  const { rows } = await pool.query<JudgedReview>(
    `SELECT ${COLUMNS}, ${HAS_NEW_PUSHER} AS "hasNewPusher" FROM gatehouse.reviews r
      WHERE repository = $1 AND head_sha <> '' ORDER BY pull_request`,
    [repository],
  );
  return rows;
}

/** Those whose verdict depends on who may write. */
export async function dependOnWriters(
  pool: pg.Pool,
  repositories: readonly string[],
): Promise<readonly PullRequestRef[]> {
  const { rows } = await pool.query<PullRequestRef>(
    `SELECT repository, pull_request AS number FROM gatehouse.reviews
      WHERE repository = ANY ($1) AND judged_by->'facts'->'writers'->'parts'->0 IS NOT NULL
      ORDER BY repository, pull_request`,
    [repositories],
  );
  return rows;
}

/** Of a push that was told after they were judged. A review that runs may miss it: the resync finds that one. */
export async function withNewPusher(pool: pg.Pool, repository: string): Promise<readonly PullRequestRef[]> {
  const { rows } = await pool.query<PullRequestRef>(
    `SELECT repository, pull_request AS number FROM gatehouse.reviews r
      WHERE repository = $1 AND ${HAS_NEW_PUSHER} ORDER BY pull_request`,
    [repository],
  );
  return rows;
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
           OR lower(judged_by->>'extendsName') = lower($1 || '@' || $2)
     ) AS dependent
      WHERE "baseBranch" <> '' OR "isRunning"
      ORDER BY repository, number`,
    [repository, branch],
  );
  return rows;
}

const MAX_ROWS_READ = 1_000;

/**
 * The repositories with a verdict that was judged by other rules, of another place than the repository: an extended
 * policy, the operator's. Their own base branches are taken to be where they were.
 */
export async function judgedByOtherRulesElsewhere(pool: pg.Pool, rules: PresentRules): Promise<readonly string[]> {
  const found = new Set<string>();
  let last: PullRequestRef = { repository: '', number: 0 };
  for (;;) {
    const { rows } = await pool.query<JudgedReview>(
      `SELECT ${COLUMNS} FROM gatehouse.reviews
        WHERE judged_by IS NOT NULL AND (repository, pull_request) > ($1, $2)
        ORDER BY repository, pull_request LIMIT $3`,
      [last.repository, last.number, MAX_ROWS_READ],
    );
    const outdated = await rules.outdated(rows, { tipOf: ({ judgedBy }) => judgedBy?.baseSha });
    for (const { repository } of outdated) {
      found.add(repository);
    }
    const end = rows.at(-1);
    if (end === undefined) {
      return [...found];
    }
    last = end;
  }
}
