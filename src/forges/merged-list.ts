import type { MergedList, MergedPullRequest } from './port/merged.ts';

/** A closed pull request in a forge's list; `merged` is absent where it was not merged. */
export interface ClosedPullRequest {
  readonly updatedAt: string;
  readonly merged?: MergedPullRequest;
}

/** Closed pull requests that are looked at for those that were merged last. */
const MAX_CLOSED = 2_000;

/** Whether the list, which begins with what changed last, need not be read further. */
export function isEnough(closed: readonly ClosedPullRequest[], count: number): boolean {
  return closed.length >= MAX_CLOSED || hasNewest(closed, count);
}

/** `isWhole`: whether there are no more closed pull requests than these. */
export function mergedList(closed: readonly ClosedPullRequest[], count: number, isWhole: boolean): MergedList {
  const merged = newestMerged(closed).slice(0, count);
  return isWhole || hasNewest(closed, count) ? { merged } : { merged, cutAt: closed.length };
}

/** Whoever follows was merged before it last changed, and so before the last of these changed. */
function hasNewest(closed: readonly ClosedPullRequest[], count: number): boolean {
  const last = newestMerged(closed).at(count - 1);
  const end = closed.at(-1);
  return last !== undefined && end !== undefined && last.mergedAt >= end.updatedAt;
}

function newestMerged(closed: readonly ClosedPullRequest[]): readonly MergedPullRequest[] {
  // What changes while the pages are read is on two of them.
  const byNumber = new Map(closed.flatMap(({ merged }) => (merged ? [[merged.pullRequest.number, merged]] : [])));
  // Times are in whole seconds.
  return [...byNumber.values()].toSorted(
    (one, other) => other.mergedAt.localeCompare(one.mergedAt) || other.pullRequest.number - one.pullRequest.number,
  );
}
