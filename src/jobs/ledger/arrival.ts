import type { BroughtBy } from '../../forges/port/branch-history.ts';
import type { ReceivedPush } from '../tables/ledger.ts';

/** By so much the clocks of forge and database may differ. */
export const SKEW_MS = 60_000;

/** What is known of a branch that has moved. */
interface Moved {
  /** New ones, oldest first. */
  readonly commits: readonly { readonly sha: string }[];
  /** When the branch was seen without them. */
  readonly knownAt: Date;
  readonly pushes: readonly ReceivedPush[];
}

export interface Arrival {
  /** ISO 8601. */
  readonly at: string;
  /** Whether somebody had pushed the commit before the forge called its pull request merged. */
  readonly isPushed: boolean;
}

/**
 * When a commit came to the branch with its pull request. A forge may call a pull request merged long after its commit
 * was pushed by hand: then it is when the webhook of the push came. Undefined: the branch was seen without the commit
 * after that, and so it came again, without a pull request.
 */
export function arrivalOf(
  { commits, knownAt, pushes }: Moved,
  sha: string,
  { mergedAt }: Pick<BroughtBy, 'mergedAt'>,
): Arrival | undefined {
  const merged = Date.parse(mergedAt);
  if (merged < knownAt.getTime() - SKEW_MS) {
    return undefined;
  }
  const line = commits.map((commit) => commit.sha);
  const having = new Set(line.slice(line.indexOf(sha)));
  const pushed = pushes
    .filter(({ after, receivedAt }) => having.has(after) && receivedAt >= knownAt)
    .map(({ deliveredAt }) => deliveredAt.getTime());
  const earliest = Math.min(merged, ...pushed);
  return earliest < merged
    ? { at: new Date(earliest).toISOString(), isPushed: true }
    : { at: mergedAt, isPushed: false };
}
