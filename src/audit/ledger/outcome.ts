import type { LedgerVerdict, Outcome } from './entry.ts';

/** The verdicts that may have stood when a pull request was merged: see {@link outcomeOf}. */
export interface VerdictsThen {
  /** The last one that was recorded for certain before the merge. */
  readonly before: LedgerVerdict | undefined;
  /** Those of the moments around it, oldest first: the clocks of forge and database do not say which came first. */
  readonly around: readonly LedgerVerdict[];
  /**
   * When a success was posted last in those moments. Gatehouse asks the forge before each: the pull request was open
   * then.
   */
  readonly successPostedAt: string | undefined;
}

/** What is known of a merged pull request beside its verdicts. */
export interface MergedFacts {
  /** Whether a policy was in force at the base it was merged into; undefined: that is not known any more. */
  readonly policy: 'present' | 'absent' | undefined;
  /** Whether this worker enforces rules: asked only where there is no verdict. */
  readonly enforce: boolean;
  /** Whether Gatehouse saw the repository then. */
  readonly watched: boolean;
}

export interface Judged {
  readonly outcome: Exclude<Outcome, 'direct' | 'rewritten'>;
  readonly why: string | null;
  readonly verdict: LedgerVerdict | null;
}

/**
 * What a merge was, by the verdict of its head into its base as it stood then. Where several verdicts may have stood,
 * and they do not agree, it is `unknown`: a merge has passed only if that is certain.
 */
export function outcomeOf({ before, around, successPostedAt }: VerdictsThen, facts: MergedFacts): Judged {
  const possible = [...(before === undefined ? [] : [before]), ...around];
  if (possible.length === 0) {
    return withoutVerdict(facts);
  }
  // Gatehouse found the pull request open after this verdict, and so after all before it.
  const open = successPostedAt === undefined ? -1 : possible.findLastIndex(isBefore(successPostedAt));
  const isCertain = possible[open]?.state === 'success';
  const candidates = isCertain ? possible.slice(open) : [...(before === undefined ? [undefined] : [before]), ...around];
  const judged = candidates.map((verdict) => (verdict === undefined ? undefined : byVerdict(verdict)));
  const [first] = judged;
  if (first !== undefined && judged.every((one) => one?.outcome === first.outcome)) {
    return judged.at(-1) ?? first;
  }
  // Whatever came first: none of them lets it be merged.
  if (judged.every((one) => one === undefined || one.outcome === 'bypassed')) {
    return judged.at(-1) ?? { outcome: 'bypassed', why: 'there was no verdict', verdict: null };
  }
  return { outcome: 'unknown', why: 'the verdict changed in the moment of the merge', verdict: null };
}

const isBefore =
  (time: string) =>
  ({ answeredAt }: LedgerVerdict) =>
    Date.parse(answeredAt) <= Date.parse(time);

function byVerdict(verdict: LedgerVerdict): Judged {
  const { state, enforced, overrides } = verdict;
  if (state === 'none') {
    return { outcome: 'no policy', why: null, verdict };
  }
  if (!enforced) {
    return { outcome: 'not enforced', why: null, verdict };
  }
  if (state !== 'success') {
    return { outcome: 'bypassed', why: `the verdict was ${state}`, verdict };
  }
  return { outcome: overrides.length > 0 ? 'overridden' : 'passed', why: null, verdict };
}

function withoutVerdict({ policy, enforce, watched }: MergedFacts): Judged {
  if (!watched) {
    return { outcome: 'not watched then', why: null, verdict: null };
  }
  if (policy === undefined) {
    return { outcome: 'unknown', why: 'there was no verdict, and the policy at that time is unknown', verdict: null };
  }
  if (policy === 'absent') {
    return { outcome: 'no policy', why: null, verdict: null };
  }
  return enforce
    ? { outcome: 'bypassed', why: 'there was no verdict', verdict: null }
    : { outcome: 'not enforced', why: 'there was no verdict', verdict: null };
}
