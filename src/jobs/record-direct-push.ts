import { NotFoundYetError } from './attempt.ts';
import type { Jobs } from './queue/queue.ts';
import { addMerge, type RecordMergeDeps } from './review/record-merge.ts';

/** So often a forge is asked again that names no pull request: it may do so some moments after the push. */
const LOOKS_AGAIN = 2;

/**
 * Records a push to a default branch, unless a merged pull request brought it. `looks`: how often it was looked at
 * before.
 */
export async function recordDirectPush(
  deps: RecordMergeDeps,
  push: Jobs['default-push'],
  looks: number,
): Promise<void> {
  const { repository, repositoryId, branch, after, by, at } = push;
  if (await isMerge(deps, push)) {
    return;
  }
  if (looks < LOOKS_AGAIN) {
    throw new NotFoundYetError('no pull request is known for a push yet; looking again later');
  }
  const now = await deps.forge.repository(repository);
  if (now?.id !== repositoryId) {
    // It is gone or hidden, or its name is another one's: what the forge does not show is not known.
    return;
  }
  await addMerge(deps, {
    mergedAt: new Date(at),
    repositoryId,
    repository: now.name,
    pullRequest: null,
    baseBranch: branch,
    headSha: null,
    mergeSha: after,
    mergedBy: by ?? null,
    outcome: 'direct',
    verdict: null,
    overrides: [],
  });
}

/** What a merge pushes is the commits of its pull request, and at most one more. */
async function isMerge({ forge }: RecordMergeDeps, push: Jobs['default-push']): Promise<boolean> {
  const { repository, repositoryId, branch, after, by, count, isForced } = push;
  if (by !== undefined && by === forge.mergeQueue?.account) {
    return true;
  }
  if (isForced) {
    return false;
  }
  const number = await forge.merged.broughtBy({ id: repositoryId, name: repository }, branch, after);
  return number !== undefined && (count === 1 || count <= (await forge.commits({ repository, number })).length + 1);
}
