import type pg from 'pg';
import type { Parameters } from '../../db/parameters.ts';
import type { FactName } from '../../facts/table.ts';
import type { ListedPullRequest } from '../../forges/port/many-repositories.ts';
import type { StatusState } from '../../forges/port/postings.ts';
import type { PullRequest, PullRequestRef } from '../../forges/port/pull-request.ts';
import type { UnseenPushes } from '../../review/judge.ts';
import type { RuleSources } from '../../review/rules-of.ts';
import { type Claim, LostClaimError } from './claim.ts';
import { type HeadVerdict, PLACES_ON, type PlaceRow } from './statuses.ts';

/** What the last review left. */
export interface ReviewBefore {
  readonly headSha: string;
  readonly baseBranch: string;
  /** Null: not judged yet; none: no policy asked for it. */
  readonly verdict: StatusState | 'none' | null;
  /** The pull request's page, or our comment there. */
  readonly url: string;
  /** Null: it was given up, or has been outdated since. */
  readonly rules: RuleSources | null;
  /** The inputs' digest; null: it was judged from more than a digest can be of. */
  readonly inputs: string | null;
  /** Ids of the comments whose overrides counted; null: the policy let nobody override. */
  readonly overrides: readonly string[] | null;
  /** When the forge had last changed the pull request; null: not certain. */
  readonly updatedAt: Date | null;
  readonly open: boolean;
  /** What Gatehouse shows on its head. */
  readonly places: readonly PlaceRow[];
}

/** Takes the claim. `before` is what the last review left; undefined when there was none. */
export async function beginReview(
  pool: pg.Pool,
  { repository, number }: PullRequestRef,
): Promise<{ readonly claim: Claim; readonly before: ReviewBefore | undefined }> {
  const { rows } = await pool.query<ReviewBefore & { fence: string }>(
    `INSERT INTO gatehouse.reviews AS r (repository, pull_request, fence) VALUES ($1, $2, nextval('gatehouse.review_fence'))
     ON CONFLICT (repository, pull_request) DO UPDATE SET fence = excluded.fence
     RETURNING fence, head_sha AS "headSha", base_branch AS "baseBranch", verdict, url, rules,
               inputs_digest AS inputs, overrides, pull_request_updated_at AS "updatedAt", open,
               ${PLACES_ON('r.repository', 'r.head_sha')} AS places`,
    [repository, number],
  );
  const [row] = rows;
  if (row === undefined) {
    throw new Error('the claim of a review was not stored');
  }
  const { fence, ...before } = row;
  return { claim: { repository, number, fence }, before: before.headSha === '' ? undefined : before };
}

export async function requireClaim(pool: pg.Pool, claim: Claim): Promise<void> {
  await changeClaimed(pool, claim, 'SELECT FROM gatehouse.reviews', []);
}

/** Remembers what is under review. `keepsVerdict`: whether the verdict from before counts until there is another. */
export async function recordHead(
  pool: pg.Pool,
  claim: Claim,
  { head, base, url, updatedAt }: PullRequest,
  { settled, keepsVerdict }: { readonly settled: boolean; readonly keepsVerdict: boolean },
): Promise<void> {
  await changeClaimed(
    pool,
    claim,
    // The address of our comment stays right.
    `UPDATE gatehouse.reviews
        SET verdict = CASE WHEN $8 THEN verdict END, url = CASE WHEN url = '' THEN $6 ELSE url END, head_sha = $4,
            base_branch = $5, pull_request_updated_at = $7, open = true`,
    // Where a later change can have the same time, that time proves nothing: the next resync looks once more.
    [head.sha, base.branch, url, settled ? updatedAt : null, keepsVerdict],
  );
}

/**
 * Before they are read: from now on a webhook that tells a change of one starts a review, so that nothing is lost that
 * comes after it was read.
 */
export async function recordAsked(pool: pg.Pool, claim: Claim, facts: readonly FactName[]): Promise<void> {
  const statement = 'UPDATE gatehouse.reviews SET asks = ARRAY(SELECT DISTINCT unnest(asks || $4::text[]))';
  await changeClaimed(pool, claim, statement, [facts]);
}

export interface SavedVerdict extends Pick<HeadVerdict, 'description' | 'url'> {
  readonly state: StatusState | 'none';
  /** The description where it is not enforced. */
  readonly dryRun?: string;
}

/** How a verdict came about. */
export interface HowJudged {
  readonly rules: RuleSources;
  readonly pushes: UnseenPushes | null;
  readonly inputs: string | null;
  readonly asks: readonly FactName[];
  /** Ids of the comments whose overrides count; null: the policy lets nobody override. */
  readonly overrides: readonly string[] | null;
}

/** SQL: nothing is known any more of how its verdict came about. */
export const NOT_JUDGED = 'rules = NULL, pushes = NULL, inputs_digest = NULL';

/**
 * The statement that saves a verdict. Without `judged` the review was given up, and a resync looks at it again. It
 * changes no row where the claim is lost.
 */
export function verdictUpdate(
  { add }: Parameters,
  { repository, number, fence }: Claim,
  { state, description, url, dryRun }: SavedVerdict,
  judged: HowJudged | undefined,
): string {
  const json = (value: object) => `${add(JSON.stringify(value))}::jsonb`;
  const how =
    judged === undefined
      ? NOT_JUDGED
      : `rules = ${json(judged.rules)}, pushes = ${judged.pushes === null ? 'NULL' : json(judged.pushes)},
            inputs_digest = ${add(judged.inputs)}, asks = ${add(judged.asks)}, overrides = ${add(judged.overrides)}`;
  return `UPDATE gatehouse.reviews
        SET verdict = ${add(state)}, description = ${add(description)}, url = ${add(url)}, dry_run_description = ${add(dryRun ?? null)},
            reviewed_at = now(), ${how}
      WHERE repository = ${add(repository)} AND pull_request = ${add(number)} AND fence = ${add(fence)}`;
}

/** Whether none of its pull requests was judged, because no policy asked for it. False where none was looked at. */
export async function hasNoPolicy(pool: pg.Pool, repository: string): Promise<boolean> {
  const { rows } = await pool.query<{ none: boolean | null }>(
    "SELECT bool_and(verdict = 'none') AS none FROM gatehouse.reviews WHERE repository = $1",
    [repository],
  );
  return rows[0]?.none ?? false;
}

/** What was judged before may not be so any more: a resync looks at it again. */
export async function markOutdated(pool: pg.Pool, claim: Claim): Promise<void> {
  await changeClaimed(pool, claim, `UPDATE gatehouse.reviews SET ${NOT_JUDGED}`, []);
}

/** The pull request cannot be read, or not now. What was judged of it before may not be so any more. */
export async function markUnread(
  pool: pg.Pool,
  claim: Claim,
  { state, description }: Pick<SavedVerdict, 'state' | 'description'>,
): Promise<void> {
  await changeClaimed(
    pool,
    claim,
    `UPDATE gatehouse.reviews
        SET verdict = $4, description = $5, dry_run_description = NULL, reviewed_at = now(), ${NOT_JUDGED}`,
    [state, description],
  );
}

/** Nothing can be judged of it now. */
export async function markLookedAt(pool: pg.Pool, claim: Claim): Promise<void> {
  await changeClaimed(pool, claim, 'UPDATE gatehouse.reviews SET reviewed_at = now()', []);
}

/** It no longer counts among the pull requests whose verdicts a status shows. */
export async function markClosed(pool: pg.Pool, claim: Claim): Promise<void> {
  await changeClaimed(pool, claim, 'UPDATE gatehouse.reviews SET open = false', []);
}

/** Who made its commits is kept for a while: it may be reopened. */
export async function deleteReview(pool: pg.Pool, claim: Claim): Promise<void> {
  const keep = 'UPDATE gatehouse.makers SET seen_at = now() WHERE repository = $1 AND pull_request = $2';
  await changeClaimed(pool, claim, `WITH kept AS (${keep}) DELETE FROM gatehouse.reviews`, []);
}

/**
 * Runs a statement on the claimed row. Throws {@link LostClaimError} when it is not claimed by this review any more.
 */
async function changeClaimed<Row extends pg.QueryResultRow>(
  pool: pg.Pool,
  claim: Claim,
  statement: string,
  values: readonly (string | boolean | readonly string[] | null)[],
  returning = '',
): Promise<readonly Row[]> {
  const { rowCount, rows } = await pool.query<Row>(
    `${statement} WHERE repository = $1 AND pull_request = $2 AND fence = $3 ${returning}`,
    [claim.repository, claim.number, claim.fence, ...values],
  );
  if (rowCount === 0) {
    throw new LostClaimError(claim);
  }
  return rows;
}

/**
 * Those of open pull requests whose present head and base have no verdict, and those that have changed since the review
 * read them, by the forge's times: our clock may differ. Our own comment is such a change too. It costs one more review,
 * which writes nothing. What was read in the second of a change has no time: a later change may show in none.
 */
export async function toReview(
  pool: pg.Pool,
  open: readonly ListedPullRequest[],
): Promise<readonly ListedPullRequest[]> {
  if (open.length === 0) {
    return [];
  }
  const { rows } = await pool.query<{ ordinal: string }>(
    `SELECT open.ordinal
       FROM unnest($1::text[], $2::int[], $3::text[], $4::text[], $5::timestamptz[]) WITH ORDINALITY
              AS open (repository, pull_request, head_sha, base_branch, updated_at, ordinal)
       LEFT JOIN gatehouse.reviews r USING (repository, pull_request, head_sha, base_branch)
      WHERE r.verdict IS NULL OR r.rules IS NULL OR r.pull_request_updated_at IS DISTINCT FROM open.updated_at`,
    [
      open.map(({ repository }) => repository),
      open.map(({ number }) => number),
      open.map(({ head }) => head.sha),
      open.map(({ base }) => base.branch),
      open.map(({ updatedAt }) => updatedAt),
    ],
  );
  return rows.flatMap(({ ordinal }) => open[Number(ordinal) - 1] ?? []);
}

/** The next resync has all pull requests of these repositories reviewed, whatever its lists show. */
export async function forgetTimes(client: pg.Pool | pg.ClientBase, repositories: readonly string[]): Promise<void> {
  await client.query(
    `UPDATE gatehouse.reviews SET pull_request_updated_at = NULL
      WHERE lower(repository) IN (SELECT lower(named) FROM unnest($1::text[]) AS named)`,
    [repositories],
  );
}

/** Those with a row that are not among the open pull requests of their repository: closed, merged or deleted. */
export async function notOpen(
  pool: pg.Pool,
  repository: string,
  open: readonly PullRequestRef[],
): Promise<readonly PullRequestRef[]> {
  const { rows } = await pool.query<{ number: number }>(
    `SELECT pull_request AS number FROM gatehouse.reviews
      WHERE repository = $1 AND pull_request <> ALL ($2::int[]) ORDER BY pull_request`,
    [repository, open.map(({ number }) => number)],
  );
  return rows.map(({ number }) => ({ repository, number }));
}
