import type { Forge } from '../forges/port/forge.ts';
import type { Commit, PersonReview, PullRequest } from '../forges/port/pull-request.ts';
import type { AuthoredCommits } from './authors/authors.ts';
import type { CleanMerges } from './clean-merge.ts';

/**
 * Earlier heads from which only updates lead to the present one, the newest first: clean merges, each of the head
 * before it (its first parent) with a commit of the base branch (its second). A merge of anything else is a push,
 * however clean: its author chooses what comes in by it. Only updates since an approval are looked into.
 */
export async function readUpdatedFrom(
  forge: Forge,
  isClean: CleanMerges,
  { repository, head, state }: PullRequest,
  baseSha: string,
  { commits, complete }: Pick<AuthoredCommits, 'commits' | 'complete'>,
  reviews: readonly PersonReview[],
): Promise<readonly string[]> {
  const approved = new Set(reviews.filter(({ state }) => state === 'approved').map(({ sha }) => sha));
  const merges = mergesBefore(head.sha, commits);
  const oldest = merges.findLastIndex(({ parents: [before = ''] }) => approved.has(before));
  // Once merged, the base branch has all of it: what it had before is what the pull request's own list leaves out.
  const own = state === 'merged' ? new Set(commits.map(({ sha }) => sha)) : undefined;
  const isOfBase = async (sha: string) =>
    own ? complete && !own.has(sha) : forge.isAncestor(repository, sha, baseSha);
  const from: string[] = [];
  for (const merge of merges.slice(0, oldest + 1)) {
    const [before = '', brought = ''] = merge.parents;
    if (!(await isOfBase(brought)) || !(await isClean(merge))) {
      break;
    }
    from.push(before);
  }
  return from;
}

/** The unbroken row of merges of two parents that ends in the head, newest first. */
function mergesBefore(head: string, commits: readonly Commit[]): readonly Commit[] {
  const bySha = new Map(commits.map((commit) => [commit.sha, commit]));
  const merges: Commit[] = [];
  for (let next = bySha.get(head); next?.parents.length === 2; next = bySha.get(next.parents[0] ?? '')) {
    merges.push(next);
  }
  return merges;
}
