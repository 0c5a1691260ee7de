import type { MergeGroupRef } from './events.ts';
import { MAX_PULL_REQUEST_NUMBER } from './pull-request.ts';

/** A pull request as its merge queue knows it. */
export interface QueuedPullRequest {
  readonly number: number;
  /** Its own head. */
  readonly headSha: string;
  readonly baseBranch: string;
}

/** A pull request in a merge queue, with the group commit made for it; null where the forge names none. */
export interface MergeQueueEntry {
  /** Lower positions are merged first. */
  readonly position: number;
  readonly headSha: string | null;
  readonly pullRequest: QueuedPullRequest | null;
}

/** As GitHub names the branch of the group that was made for a pull request. */
export function branchOfGroup(branch: string, number: number, baseSha: string): string {
  return `gh-readonly-queue/${branch}/pr-${number}-${baseSha}`;
}

/** The pull request that a group's branch was made for; undefined when its name has another form than GitHub's. */
export function pullRequestOfGroup({ branch, headRef }: MergeGroupRef): number | undefined {
  const prefix = `gh-readonly-queue/${branch}/pr-`;
  const rest = headRef.startsWith(prefix) ? headRef.slice(prefix.length) : '';
  const number = Number(/^([1-9]\d*)-[0-9a-f]{40}$/.exec(rest)?.[1]);
  return number <= MAX_PULL_REQUEST_NUMBER ? number : undefined;
}

/**
 * The pull requests that a group's commit merges, first in the queue first: that of the entry the commit was made for,
 * and all ahead of it. Undefined when the queue does not say with certainty that this commit is of that pull request.
 */
export function groupUpTo(
  entries: readonly MergeQueueEntry[],
  headSha: string,
  number: number,
): readonly QueuedPullRequest[] | undefined {
  const [last, ...others] = entries.filter((entry) => entry.headSha === headSha);
  if (last === undefined || others.length > 0 || last.pullRequest?.number !== number) {
    return undefined;
  }
  const group = entries
    .filter(({ position }) => position <= last.position)
    .toSorted((left, right) => left.position - right.position);
  const members = group.flatMap(({ pullRequest }) => pullRequest ?? []);
  return members.length === group.length ? members : undefined;
}
