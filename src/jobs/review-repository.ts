import type { RepositoryJob } from './queues.ts';
import type { ResyncParts } from './resync.ts';

/** The policy of a branch has changed: every open pull request into it is reviewed again. */
export async function reviewRepository(
  { forge, enqueue }: Pick<ResyncParts, 'forge' | 'enqueue'>,
  { repository, branch }: RepositoryJob,
): Promise<void> {
  const open = await forge.openPullRequests(repository);
  const affected = (open ?? []).filter(({ base }) => base.branch === branch);
  await enqueue(affected.map(({ repository: name, number }) => ({ kind: 'review', repository: name, number })));
}
