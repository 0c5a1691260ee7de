import type pg from 'pg';
import type { Forge } from '../../forges/port/forge.ts';
import type { PullRequestRef } from '../../forges/port/pull-request.ts';
import { codeOwnersText, readCodeOwners } from '../../review/evaluation/gather-facts.ts';
import { type BaselineOf, digestOfBaseline } from '../../review/policy/baseline.ts';
import { extendedDigest, policyDigest } from '../../review/policy/load.ts';

/** What a stored verdict was judged by. All null: it was not judged. */
interface JudgedReview extends PullRequestRef {
  readonly baseBranch: string;
  readonly baseSha: string | null;
  readonly policyDigest: string | null;
  readonly operatorPolicyDigest: string | null;
  readonly extendsName: string | null;
  readonly extendsDigest: string | null;
  readonly codeOwnersDigest: string | null;
  readonly baselineDigest: string | null;
}

/** What the rules are now. Everything is read once, and only when a verdict was judged by another. */
export interface PresentRules {
  /**
   * The reviews whose verdict was judged by other rules than those of today. `tipOf`: the commit at the tip of a review's base branch,
   * where it is known already.
   */
  outdated(reviews: readonly JudgedReview[], tipOf?: TipOf): Promise<readonly PullRequestRef[]>;
}

/** Null: there is no such branch. Undefined: not known. */
type TipOf = (review: JudgedReview) => string | null | undefined;

export interface BaselineRules {
  readonly baselineOf: BaselineOf;
  /**
   * Whether one more review may be requested only because the baseline is another: that concerns all pull requests of an owner at once.
   * Those that are left out are found again by the next resync.
   */
  readonly mayFollowBaseline: () => Promise<boolean>;
}

const NO_BASELINE: BaselineRules = { baselineOf: async () => ({ kind: 'none' }), mayFollowBaseline: async () => true };

/** `operatorPolicyDigest`: of the operator's policy; null when there is none. */
export function readPresentRules(
  forge: Forge,
  operatorPolicyDigest: string | null,
  { baselineOf, mayFollowBaseline } = NO_BASELINE,
): PresentRules {
  const read = new Map<string, Promise<string | null>>();

  function once(key: readonly string[], work: () => Promise<string | null>): Promise<string | null> {
    const name = JSON.stringify(key);
    const known = read.get(name) ?? work();
    read.set(name, known);
    return known;
  }

  const baseCommit = (repository: string, branch: string) =>
    once(['base', repository, branch], async () => (await forge.branchCommit(repository, branch)) ?? null);
  const policyAt = (repository: string, ref: string) =>
    once(['policy', repository, ref], async () => (await policyDigest(forge, repository, ref)) ?? null);
  const codeOwnersAt = (repository: string, ref: string) =>
    once(
      ['owners', repository, ref],
      async () => codeOwnersText(await readCodeOwners(forge, repository, ref))?.digest ?? null,
    );

  const baselineAt = (repository: string) =>
    once(
      ['baseline', repository.split('/')[0]?.toLowerCase() ?? ''],
      async () => digestOfBaseline(await baselineOf(repository)) ?? null,
    );
  const extended = (under: string, name: string) =>
    once(['extended', under.split('/')[0] ?? '', name], async () => (await extendedDigest(forge, under, name)) ?? null);

  async function isOutdated(review: JudgedReview, tipOf: TipOf): Promise<boolean> {
    const { repository, baseBranch, extendsName } = review;
    const known = tipOf(review);
    const commit = known === undefined ? await baseCommit(repository, baseBranch) : known;
    if (commit === null || review.baseSha === null) {
      return true;
    }
    if (commit !== review.baseSha) {
      if ((await policyAt(repository, commit)) !== review.policyDigest) {
        return true;
      }
      if (review.codeOwnersDigest !== null && (await codeOwnersAt(repository, commit)) !== review.codeOwnersDigest) {
        return true;
      }
    }
    if (review.policyDigest === null && review.operatorPolicyDigest !== operatorPolicyDigest) {
      return true;
    }
    if (extendsName !== null && (await extended(repository, extendsName)) !== review.extendsDigest) {
      return true;
    }
    return (await baselineAt(repository)) !== review.baselineDigest && followsBaseline(review);
  }

  /** Asked once for each review, however often it is looked at. */
  async function followsBaseline({ repository, number }: PullRequestRef): Promise<boolean> {
    return (
      (await once(['follows', repository, String(number)], async () => ((await mayFollowBaseline()) ? '' : null))) ===
      ''
    );
  }

  return {
    async outdated(reviews, tipOf = () => undefined) {
      const found: PullRequestRef[] = [];
      for (const review of reviews) {
        if (await isOutdated(review, tipOf)) {
          found.push({ repository: review.repository, number: review.number });
        }
      }
      return found;
    },
  };
}

const COLUMNS = `repository, pull_request AS number, base_branch AS "baseBranch", base_sha AS "baseSha",
                 policy_digest AS "policyDigest", operator_policy_digest AS "operatorPolicyDigest",
                 extends_name AS "extendsName", extends_digest AS "extendsDigest",
                 code_owners_digest AS "codeOwnersDigest", baseline_digest AS "baselineDigest"`;

export async function reviewsOf(pool: pg.Pool, repository: string): Promise<readonly JudgedReview[]> {
  const { rows } = await pool.query<JudgedReview>(
    `SELECT ${COLUMNS} FROM gatehouse.reviews WHERE repository = $1 AND head_sha <> '' ORDER BY pull_request`,
    [repository],
  );
  return rows;
}

/** Reviews that a push to the branch can concern: by their base, or by the policy that theirs extends. */
export async function reviewsThatDependOn(
  pool: pg.Pool,
  repository: string,
  branch: string,
): Promise<readonly JudgedReview[]> {
  const { rows } = await pool.query<JudgedReview>(
    `SELECT ${COLUMNS} FROM gatehouse.reviews
      WHERE (repository = $1 AND base_branch = $2)
         OR lower(extends_name) = lower($1 || '@' || $2)
      ORDER BY repository, pull_request`,
    [repository, branch],
  );
  return rows;
}

const MAX_ROWS_READ = 1_000;

/**
 * The repositories with a verdict that was judged by other rules, of another place than the repository: an extended policy, the
 * operator's. Their own base branches are taken to be where they were.
 */
export async function judgedByOtherRulesElsewhere(pool: pg.Pool, rules: PresentRules): Promise<readonly string[]> {
  const found = new Set<string>();
  let last: PullRequestRef = { repository: '', number: 0 };
  for (;;) {
    const { rows } = await pool.query<JudgedReview>(
      `SELECT ${COLUMNS} FROM gatehouse.reviews
        WHERE base_sha IS NOT NULL AND (repository, pull_request) > ($1, $2)
        ORDER BY repository, pull_request LIMIT $3`,
      [last.repository, last.number, MAX_ROWS_READ],
    );
    for (const { repository } of await rules.outdated(rows, ({ baseSha }) => baseSha)) {
      found.add(repository);
    }
    const end = rows.at(-1);
    if (end === undefined) {
      return [...found];
    }
    last = end;
  }
}
