import type pg from 'pg';
import { presentFacts } from '../../facts/compare.ts';
import { isFactName } from '../../facts/table.ts';
import type { PullRequestRef } from '../../forges/port/pull-request.ts';
import type { YesNo } from '../../forges/port/yes-no.ts';
import type { ComparedFacts } from '../../review/judge.ts';
import { areRules, type RuleSources, type RulesContext, rulesDigest } from '../../review/rules-of.ts';
import { isReviewRunning } from '../queue/under-review.ts';

export interface JudgedReview extends PullRequestRef {
  readonly headSha: string;
  readonly baseBranch: string;
  /** Null: it was not judged. */
  readonly rules: RuleSources | null;
  /** Read where facts are compared. */
  readonly compared?: ComparedFacts | null;
  /** Whether a webhook has told since who else pushed a commit of it. */
  readonly hasNewPusher?: boolean;
}

/** What the rules are now. Each thing is read once. */
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

/** What the present is read with. */
export interface PresentContext extends RulesContext {
  /** The name of the commit status, `{base}` for the base branch. */
  readonly statusContext: string;
}

export function readPresentRules(context: PresentContext): PresentRules {
  const once = eachOnce(context);
  const present = presentFacts(context.forge, context.statusContext);
  const compareRules = remember(
    ({ repository, rules }: JudgedReview & { readonly rules: RuleSources }, commit: string) =>
      areRules(once, { repository, commit }, rules),
    ({ repository, rules }, commit) => [repository, commit, String(commit === rules.baseSha), rulesDigest(rules)],
  );

  async function haveFactsChanged(review: JudgedReview, told: CompareOptions['told']): Promise<boolean> {
    for (const [name, { digest, parts }] of Object.entries(review.compared?.facts ?? {})) {
      if (!isFactName(name) || (await present.digest(name, { ...review, told }, parts)) !== digest) {
        return true;
      }
    }
    return false;
  }

  async function isOutdated(review: JudgedReview, { tipOf, facts = false, told }: CompareOptions): Promise<boolean> {
    const { repository, baseBranch, rules, hasNewPusher = false } = review;
    if (rules === null || hasNewPusher) {
      return true;
    }
    const known = tipOf?.(review);
    const tip = known === undefined ? await once.forge.branchCommit(repository, baseBranch) : known;
    if (tip == null || !(await compareRules({ ...review, rules }, tip))) {
      return true;
    }
    return facts && (await haveFactsChanged(review, told));
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

/** What is read by name is the same for many repositories of an owner. */
function eachOnce(context: RulesContext): RulesContext {
  const { forge, baselineOf, isMeant } = context;
  const ownerOf = (repository: string) => repository.split('/')[0]?.toLowerCase() ?? '';
  const { branchCommit, tagCommit, repository } = forge;
  return {
    ...context,
    forge: {
      ...forge,
      branchCommit: remember(branchCommit, (...of) => of),
      tagCommit: remember(tagCommit, (...of) => of),
      repository: remember(repository, (...of) => of),
    },
    baselineOf: remember(baselineOf, (of) => [ownerOf(of)]),
    ...(isMeant && { isMeant: remember(isMeant, ({ id, name }, remembers) => [id, name, String(remembers)]) }),
  };
}

/** The work, done once for each key. */
function remember<Of extends readonly unknown[], Result>(
  work: (...of: Of) => Promise<Result>,
  keyOf: (...of: Of) => readonly string[],
): (...of: Of) => Promise<Result> {
  const done = new Map<string, Promise<Result>>();
  return (...of) => {
    const key = JSON.stringify(keyOf(...of));
    const result = done.get(key) ?? work(...of);
    done.set(key, result);
    return result;
  };
}

const COLUMNS = `repository, pull_request AS number, head_sha AS "headSha", base_branch AS "baseBranch", rules`;

/**
 * A push of a commit whose pushes matter, that no review has copied to its pull request. One that was taken to bring
 * merges alone is another where it was moved from something else.
 */
const HAS_NEW_PUSHER = `r.compared->'unseenPushes' IS NOT NULL AND EXISTS (
  SELECT FROM (SELECT jsonb_array_elements_text(r.compared->'unseenPushes')
                UNION
               SELECT sha FROM gatehouse.makers own
                WHERE own.repository = r.repository AND own.pull_request = r.pull_request AND own.base_branch = '') AS known (sha)
    JOIN gatehouse.makers told
      ON told.repository = r.compared->>'headRepository' AND told.pull_request = 0 AND told.base_branch = '' AND told.sha = known.sha
   WHERE told.login <> ''
     AND NOT EXISTS (
       SELECT FROM gatehouse.makers own
        WHERE own.repository = r.repository AND own.pull_request = r.pull_request AND own.base_branch = ''
          AND own.sha = told.sha AND own.login = told.login
          AND (NOT own.is_update OR told.pushed_from IS NULL OR own.pushed_from IN (told.pushed_from, ''))))`;

export async function reviewsOf(pool: pg.Pool, repository: string): Promise<readonly JudgedReview[]> {
  const { rows } = await pool.query<JudgedReview>(
    `SELECT ${COLUMNS}, compared, ${HAS_NEW_PUSHER} AS "hasNewPusher" FROM gatehouse.reviews r
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
      WHERE repository = ANY ($1) AND compared->'facts'->'writers'->'parts'->0 IS NOT NULL
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
           OR lower(rules->>'extendsName') = lower($1 || '@' || $2)
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
        WHERE rules IS NOT NULL AND (repository, pull_request) > ($1, $2)
        ORDER BY repository, pull_request LIMIT $3`,
      [last.repository, last.number, MAX_ROWS_READ],
    );
    const outdated = await rules.outdated(rows, { tipOf: ({ rules }) => rules?.baseSha });
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
