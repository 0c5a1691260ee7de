import type pg from 'pg';
import type { RecordedApproval, RecordedOverride } from '../verdict-record.ts';
import type { Chain } from './chains.ts';
import type { LedgerVerdict } from './entry.ts';
import type { VerdictsThen } from './outcome.ts';

/** Forges tell the time of a merge in whole seconds. */
const SECOND_MS = 1_000;
/** By so much the clocks of forge and database may differ. */
const SKEW_MS = 1_000;

export interface MergedHead {
  readonly number: number;
  readonly head: string;
  readonly branch: string;
  /** When it came to the branch. */
  readonly at: string;
  /** Whether it was there before the pull request was closed. */
  readonly isPushed: boolean;
  /** Whether a merge queue merged it. */
  readonly byQueue: boolean;
  /** What it became on the branch. In a merge queue that is the commit of its own group. */
  readonly mergeCommit: string | undefined;
  /** The commits of the groups that a merge queue may have judged it in. */
  readonly groups: readonly string[];
  /** Name of the commit status. */
  readonly context: string;
}

interface VerdictRow {
  readonly state: string;
  readonly answeredAt: Date;
  readonly enforced: boolean;
  readonly approvals: readonly RecordedApproval[] | null;
  readonly overrides: readonly RecordedOverride[];
  readonly group: string | null;
}

interface PostingRow {
  readonly state: string;
  readonly postedAt: Date;
}

/** Names of a repository, until when each was its own, and until when the record is read. */
type Under = readonly [readonly string[], readonly string[], Date];

const OF_REPOSITORY = (time: string) =>
  `JOIN unnest($1::text[], $2::timestamptz[]) AS known (name, until) ON lower(repository) = name AND ${time} < until
   WHERE ${time} < $3`;

/** What the record had of a head when it was merged. `isQueue`: a merge queue judged it. */
export async function verdictsThen(
  pool: pg.Pool,
  { repository, former }: Chain,
  merged: MergedHead,
): Promise<VerdictsThen & { readonly isQueue: boolean }> {
  const names = [{ name: repository.toLowerCase(), until: 'infinity' }, ...former];
  const at = Date.parse(merged.at);
  const start = new Date(at - SKEW_MS);
  const end = new Date(at + SECOND_MS + SKEW_MS);
  const under = [names.map(({ name }) => name), names.map(({ until }) => until), end] as const;
  const { rows } = await pool.query<VerdictRow>(
    `SELECT state, answered_at AS "answeredAt", enforced, approvals, overrides, merge_group_sha AS group
       FROM gatehouse.audit_verdicts ${OF_REPOSITORY('answered_at')}
        AND pull_request = $4 AND head_sha = $5 AND base_branch = $6
        AND (merge_group_sha IS NULL OR merge_group_sha = ANY ($7))
      ORDER BY answered_at`,
    [...under, merged.number, merged.head, merged.branch, merged.groups],
  );
  const { verdicts, isQueue } = verdictsOf(rows, merged);
  const { rows: postings } = await pool.query<PostingRow>(
    `SELECT state, posted_at AS "postedAt" FROM gatehouse.audit_postings ${OF_REPOSITORY('posted_at')}
        AND head_sha = $4 AND lower(context) = lower($5) ORDER BY posted_at`,
    // The status of another group may be about those behind it.
    [...under, isQueue ? merged.mergeCommit : merged.head, merged.context],
  );
  const shown = verdicts.map(toVerdict);
  const worst = isQueue ? shown : await worstOfAll(pool, under, merged, shown, postings);
  const then = between(worst, postings, start);
  return { ...then, ...(merged.isPushed && { successPostedAt: undefined }), isQueue };
}

/**
 * Those of the group that a queue merged. A person can push the commit of a group whose pull request was judged again
 * since: then a group only counts if it did not pass.
 */
function verdictsOf(
  rows: readonly VerdictRow[],
  { mergeCommit, byQueue }: MergedHead,
): { readonly verdicts: readonly VerdictRow[]; readonly isQueue: boolean } {
  const ofGroup = rows.filter(({ group }) => group !== null);
  const ofOwnGroup = ofGroup.filter(({ group }) => group === mergeCommit);
  if (byQueue && ofGroup.length > 0) {
    return { verdicts: ofOwnGroup.length > 0 ? ofOwnGroup : ofGroup, isQueue: true };
  }
  const isRed = ofOwnGroup.length > 0 && ofOwnGroup.at(-1)?.state !== 'success';
  return { verdicts: isRed ? ofOwnGroup : rows.filter(({ group }) => group === null), isQueue: false };
}

/**
 * A status shows the worst of all open pull requests of one head into one base. Where it was red before this one
 * passed, and no success was posted since, another one may have kept it red.
 */
async function worstOfAll(
  pool: pg.Pool,
  under: Under,
  { number, head, branch }: MergedHead,
  shown: readonly LedgerVerdict[],
  postings: readonly PostingRow[],
): Promise<readonly LedgerVerdict[]> {
  const [last, posted] = [shown.at(-1), postings.at(-1)];
  if (last?.state !== 'success' || posted === undefined || posted.state === 'success') {
    return shown;
  }
  const { rows } = await pool.query<{ state: string }>(
    `SELECT state FROM (
       SELECT DISTINCT ON (pull_request) state, answered_at FROM gatehouse.audit_verdicts ${OF_REPOSITORY('answered_at')}
          AND head_sha = $4 AND base_branch = $5 AND pull_request <> $6 AND merge_group_sha IS NULL
        ORDER BY pull_request, answered_at DESC) AS others
      WHERE state NOT IN ('success', 'none') AND answered_at > $7 LIMIT 1`,
    [...under, head, branch, number, postings.findLast(({ state }) => state === 'success')?.postedAt ?? new Date(0)],
  );
  const isKept = (verdict: LedgerVerdict) =>
    verdict.state === 'success' && Date.parse(verdict.answeredAt) >= posted.postedAt.getTime();
  return shown.map((verdict) => (rows.length > 0 && isKept(verdict) ? { ...verdict, state: posted.state } : verdict));
}

/** What certainly was before the merge, and what may have been. */
function between(shown: readonly LedgerVerdict[], postings: readonly PostingRow[], start: Date): VerdictsThen {
  const isBefore = ({ answeredAt }: LedgerVerdict) => Date.parse(answeredAt) < start.getTime();
  const before = shown.findLast(isBefore);
  const posted = postings.at(-1);
  const last = shown.at(-1);
  // A review that begins anew takes the success away first, and records its verdict later.
  const withdrawn =
    last?.state === 'success' &&
    posted !== undefined &&
    posted.state !== 'success' &&
    posted.postedAt.getTime() > Date.parse(last.answeredAt)
      ? { ...last, state: posted.state, answeredAt: posted.postedAt.toISOString() }
      : undefined;
  const around = [...shown.filter((one) => !isBefore(one)), ...(withdrawn && !isBefore(withdrawn) ? [withdrawn] : [])];
  return {
    before: withdrawn !== undefined && isBefore(withdrawn) ? withdrawn : before,
    around,
    successPostedAt: posted?.state === 'success' ? posted.postedAt.toISOString() : undefined,
  };
}

function toVerdict({ state, answeredAt, enforced, approvals, overrides }: VerdictRow): LedgerVerdict {
  return {
    state,
    answeredAt: answeredAt.toISOString(),
    enforced,
    approvals: (approvals ?? [])
      .filter(({ official, bot }) => official && !bot)
      .map(({ login, sha }) => ({ login, sha })),
    overrides: overrides.map(({ rule, login }) => ({ rule, login })),
  };
}
