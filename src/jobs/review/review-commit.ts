import type pg from 'pg';
import type { ReviewRequest } from '../../forges/port/events.ts';
import type { CommitJob } from '../queue/queues.ts';
import { reviewsThatAskForOthers } from '../tables/other-checks.ts';

export interface CommitReviewParts {
  readonly pool: pg.Pool;
  readonly enqueue: (requests: readonly ReviewRequest[]) => Promise<void>;
}

/**
 * After a check was reported about a commit, or a review requested: requests the reviews of the open pull requests with this head
 * whose policy asks for such things. The forge is not asked: most checks are of commits that no policy waits for.
 */
export async function reviewCommit(
  { pool, enqueue }: CommitReviewParts,
  { repository, headSha }: CommitJob,
): Promise<void> {
  const asking = await reviewsThatAskForOthers(pool, repository, headSha);
  if (asking.length > 0) {
    await enqueue(asking.map((ref) => ({ kind: 'review', ...ref })));
  }
}
