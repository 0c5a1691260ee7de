import type pg from 'pg';
import type { ListedPullRequest } from '../../forges/port/many-repositories.ts';
import type { StatusState } from '../../forges/port/postings.ts';
import type { PullRequest, PullRequestRef } from '../../forges/port/pull-request.ts';
import type { AskedOfOthers } from '../../review/judge.ts';
import type { JudgedBy } from '../../review/judged-by.ts';

/**
 * A review's right to write. Each review that begins takes the next number, and only the one with the row's number may
 * write: one that hung, or that the job engine gave to another worker meanwhile, finds a higher number there.
 */
export interface Claim extends PullRequestRef {
  readonly fence: string;
}

/** What is known of an open pull request whose head a status is on. */
export interface HeadVerdict {
  readonly number: number;
  /** Its page, or the comment there. */
  readonly url: string;
  /** `pending`: there is no verdict yet, or it waits for others. `none`: no policy asks anything of it. */
  readonly state: StatusState | 'none';
  readonly description: string;
  /** What the status says instead where rules are not enforced; null: not known. */
  readonly dryRun: string | null;
}

/** Which status shows a verdict: that of a commit, under a name. */
export interface ReportedStatus {
  readonly headSha: string;
  readonly baseBranch: string;
  /** The name of the status; null as long as the verdict is not shown. */
  readonly reportedAs: string | null;
  /** Null: not judged yet; none: no policy asked for it. */
  readonly verdict: string | null;
}

/** What the last review left. */
export interface ReviewBefore extends ReportedStatus {
  /** Whether there may be comments of ours on the pull request; null: not known. */
  readonly commented: boolean | null;
  /** Null: it was not judged. */
  readonly judgedBy: JudgedBy | null;
  /** Ids of the comments whose overrides counted; null: the policy let nobody override. */
  readonly overrides: readonly string[] | null;
}

/** A newer review of the same pull request has begun, which will say what this one would have said, and more. */
export class LostClaimError extends Error {
  override readonly name = 'LostClaimError';
  constructor({ repository, number }: PullRequestRef) {
    super(`a newer review of ${repository}#${number} has begun`);
  }
}

/** Takes the claim. `before` is what the last review left; undefined when there was none. */
export async function beginReview(
  pool: pg.Pool,
  { repository, number }: PullRequestRef,
): Promise<{ readonly claim: Claim; readonly before: ReviewBefore | undefined }> {
  const { rows } = await pool.query<ReviewBefore & { fence: string }>(
    `INSERT INTO gatehouse.reviews (repository, pull_request, fence) VALUES ($1, $2, nextval('gatehouse.review_fence'))
     ON CONFLICT (repository, pull_request) DO UPDATE SET fence = excluded.fence
     RETURNING fence, head_sha AS "headSha", base_branch AS "baseBranch", reported_as AS "reportedAs", verdict, commented, overrides,
               judged_by AS "judgedBy"`,
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

/** Before the first comment is written: from then on there may be comments of ours. */
export async function markCommented(pool: pg.Pool, claim: Claim): Promise<void> {
  await changeClaimed(pool, claim, 'UPDATE gatehouse.reviews SET commented = true', []);
}

/** Afterwards, when all were looked for: there is none. */
export async function markUncommented(pool: pg.Pool, claim: Claim): Promise<void> {
  await changeClaimed(pool, claim, 'UPDATE gatehouse.reviews SET commented = false', []);
}

/**
 * Remembers what is under review. A verdict on another head or base, or one that no status shows, does not count any
 * more.
 */
export async function recordHead(
  pool: pg.Pool,
  claim: Claim,
  { head, base, url, updatedAt }: PullRequest,
  context: string,
  { commented, settled }: { readonly commented: boolean | null; readonly settled: boolean },
): Promise<void> {
  const isSame = 'head_sha = $4 AND base_branch = $5 AND reported_as = $6';
  await changeClaimed(
    pool,
    claim,
    `UPDATE gatehouse.reviews
        SET verdict = CASE WHEN ${isSame} THEN verdict END, reported_as = CASE WHEN ${isSame} THEN reported_as END,
            url = CASE WHEN ${isSame} THEN url ELSE $7 END, head_sha = $4, base_branch = $5, pull_request_updated_at = $8,
            open = true, commented = $9`,
    // Where a later change can have the same time, that time proves nothing: the next resync looks once more.
    [head.sha, base.branch, context, url, settled ? updatedAt : null, commented],
  );
}

const ASKS = { others: 'asks_others', threads: 'asks_threads' } as const satisfies Record<AskedOfOthers, string>;

/**
 * Before it is read: from now on what others say about the head starts a review, so that nothing is lost that comes
 * after it was read.
 */
export async function recordOthersAsked(pool: pg.Pool, claim: Claim, asked: AskedOfOthers): Promise<void> {
  await changeClaimed(pool, claim, `UPDATE gatehouse.reviews SET ${ASKS[asked]} = true`, []);
}

export interface SavedVerdict extends Pick<HeadVerdict, 'state' | 'description' | 'url'> {
  /** The description where it is not enforced. */
  readonly dryRun?: string;
}

/** How a verdict came about. */
export interface Judged {
  readonly judgedBy: JudgedBy;
  readonly asksOthers: boolean;
  readonly asksThreads: boolean;
  /** Ids of the comments whose overrides count; null: the policy lets nobody override. */
  readonly overrides: readonly string[] | null;
}

/**
 * Saves a verdict that no status shows yet. Without `judged` the review was given up, and a resync looks at it again.
 */
export async function saveVerdict(
  client: pg.Pool | pg.ClientBase,
  claim: Claim,
  { state, description, url, dryRun }: SavedVerdict,
  judged?: Judged,
): Promise<void> {
  const values = [state, description, url, dryRun ?? null];
  await changeClaimed(
    client,
    claim,
    `UPDATE gatehouse.reviews
        SET verdict = $4, description = $5, url = $6, dry_run_description = $7, reported_as = NULL, reviewed_at = now(), judged_by = $8::jsonb,
            asks_others = CASE WHEN $8::jsonb IS NULL THEN asks_others ELSE $9 END,
            overrides = CASE WHEN $8::jsonb IS NULL THEN overrides ELSE $10 END,
            asks_threads = CASE WHEN $8::jsonb IS NULL THEN asks_threads ELSE $11 END`,
    [
      ...values,
      ...(judged === undefined
        ? [null, null, null, null]
        : [JSON.stringify(judged.judgedBy), judged.asksOthers, judged.overrides, judged.asksThreads]),
    ],
  );
}

/** `context`: the name of the status that shows the verdict now; null when none is known to. */
export async function markReported(pool: pg.Pool, claim: Claim, context: string | null): Promise<void> {
  await changeClaimed(pool, claim, 'UPDATE gatehouse.reviews SET reported_as = $4', [context]);
}

/** The pull request cannot be read. What was judged of it before may not be so any more. */
export async function markUnread(pool: pg.Pool, claim: Claim, description: string): Promise<void> {
  await changeClaimed(
    pool,
    claim,
    `UPDATE gatehouse.reviews
        SET verdict = 'error', description = $4, dry_run_description = NULL, judged_by = NULL, reviewed_at = now()`,
    [description],
  );
}

/** It no longer counts among the pull requests whose verdicts a status shows. */
export async function markClosed(pool: pg.Pool, claim: Claim): Promise<void> {
  await changeClaimed(pool, claim, 'UPDATE gatehouse.reviews SET open = false', []);
}

export async function deleteReview(pool: pg.Pool, claim: Claim): Promise<void> {
  await changeClaimed(pool, claim, 'DELETE FROM gatehouse.reviews', []);
}

/**
 * Runs a statement on the claimed row. Throws {@link LostClaimError} when it is not claimed by this review any more.
 */
async function changeClaimed(
  client: pg.Pool | pg.ClientBase,
  claim: Claim,
  statement: string,
  values: readonly (string | boolean | readonly string[] | null)[],
): Promise<void> {
  const { rowCount } = await client.query(`${statement} WHERE repository = $1 AND pull_request = $2 AND fence = $3`, [
    claim.repository,
    claim.number,
    claim.fence,
    ...values,
  ]);
  if (rowCount === 0) {
    throw new LostClaimError(claim);
  }
}

/** The verdicts on the open pull requests with this head. */
export async function verdictsOnHead(
  pool: pg.Pool,
  repository: string,
  headSha: string,
): Promise<readonly (HeadVerdict & { readonly baseBranch: string })[]> {
  const { rows } = await pool.query<HeadVerdict & { readonly baseBranch: string }>(
    `SELECT pull_request AS number, url, base_branch AS "baseBranch", coalesce(verdict, 'pending') AS state,
            CASE WHEN verdict IS NULL THEN 'Reviewing by the rules of this repository' ELSE description END AS description,
            CASE WHEN verdict IS NOT NULL THEN dry_run_description END AS "dryRun"
       FROM gatehouse.reviews
      WHERE repository = $1 AND head_sha = $2 AND open
      ORDER BY pull_request`,
    [repository, headSha],
  );
  return rows;
}

/** Of open pull requests, those that a resync has to look at. */
export interface Unreviewed {
  /**
   * Those whose present head and base have no verdict, or none that a status of this name shows, and those that have
   * changed since the review read them. Our own comment is such a change too. It costs one more review, which writes
   * nothing.
   */
  readonly missed: readonly ListedPullRequest[];
  /** Those with a verdict that was read in the second of a change: a later change may show in no time. */
  readonly unsettled: readonly ListedPullRequest[];
}

/** The times are the forge's: our clock may differ. */
export async function withoutVerdict(
  pool: pg.Pool,
  pullRequests: readonly ListedPullRequest[],
  contextOf: (baseBranch: string) => string,
): Promise<Unreviewed> {
  if (pullRequests.length === 0) {
    return { missed: [], unsettled: [] };
  }
  const { rows } = await pool.query<{ ordinal: string; judged: boolean; settled: boolean }>(
    `SELECT open.ordinal, r.verdict IS NOT NULL AND r.judged_by IS NOT NULL AS judged,
            r.pull_request_updated_at IS NOT NULL AS settled
       FROM unnest($1::text[], $2::int[], $3::text[], $4::text[], $5::text[], $6::timestamptz[]) WITH ORDINALITY
              AS open (repository, pull_request, head_sha, base_branch, reported_as, updated_at, ordinal)
       LEFT JOIN gatehouse.reviews r USING (repository, pull_request, head_sha, base_branch, reported_as)
      WHERE r.verdict IS NULL OR r.judged_by IS NULL OR r.pull_request_updated_at IS DISTINCT FROM open.updated_at`,
    [
      pullRequests.map(({ repository }) => repository),
      pullRequests.map(({ number }) => number),
      pullRequests.map(({ head }) => head.sha),
      pullRequests.map(({ base }) => base.branch),
      pullRequests.map(({ base }) => contextOf(base.branch)),
      pullRequests.map(({ updatedAt }) => updatedAt),
    ],
  );
  const listed = (some: typeof rows) => some.flatMap(({ ordinal }) => pullRequests[Number(ordinal) - 1] ?? []);
  return {
    missed: listed(rows.filter(({ judged, settled }) => !judged || settled)),
    unsettled: listed(rows.filter(({ judged, settled }) => judged && !settled)),
  };
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
