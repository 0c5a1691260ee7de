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
  readonly mergedAt: string;
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

/** What the record has of a head that was merged, as of then. `isQueue`: a merge queue judged it. */
export async function verdictsThen(
  pool: pg.Pool,
  { repository, former }: Chain,
  merged: MergedHead,
): Promise<VerdictsThen & { readonly isQueue: boolean }> {
  const names = [{ name: repository.toLowerCase(), until: 'infinity' }, ...former];
  const [start, end] = [-SKEW_MS, SECOND_MS + SKEW_MS].map((ms) => new Date(Date.parse(merged.mergedAt) + ms));
  const under = [names.map(({ name }) => name), names.map(({ until }) => until), end];
  const { rows } = await pool.query<VerdictRow>(
    `SELECT state, answered_at AS "answeredAt", enforced, approvals, overrides, merge_group_sha AS group
       FROM gatehouse.audit_verdicts
       JOIN unnest($1::text[], $2::timestamptz[]) AS known (name, until) ON lower(repository) = name AND answered_at < until
      WHERE answered_at < $3 AND pull_request = $4 AND head_sha = $5 AND base_branch = $6
        AND (merge_group_sha IS NULL OR merge_group_sha = ANY ($7))
      ORDER BY answered_at`,
    [...under, merged.number, merged.head, merged.branch, merged.groups],
  );
  const ofGroup = rows.filter(({ group }) => group !== null);
  const ofOwnGroup = ofGroup.filter(({ group }) => group === merged.mergeCommit);
  const verdicts = [ofOwnGroup, ofGroup, rows].find((some) => some.length > 0) ?? [];
  const { rows: postings } = await pool.query<PostingRow>(
    `SELECT state, posted_at AS "postedAt" FROM gatehouse.audit_postings
       JOIN unnest($1::text[], $2::timestamptz[]) AS known (name, until) ON lower(repository) = name AND posted_at < until
      WHERE posted_at < $3 AND head_sha = ANY ($4) AND lower(context) = lower($5) ORDER BY posted_at`,
    // The status of another group may be about those behind it.
    [...under, [ofGroup.length > 0 ? merged.mergeCommit : merged.head], merged.context],
  );
  return { ...between(verdicts, postings, start ?? new Date(0)), isQueue: ofGroup.length > 0 };
}

/** What certainly was before the merge, and what may have been. */
function between(verdicts: readonly VerdictRow[], postings: readonly PostingRow[], start: Date): VerdictsThen {
  const shown = verdicts.map(toVerdict);
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
