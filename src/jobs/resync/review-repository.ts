import type pg from 'pg';
import type { ReviewRequest } from '../../forges/port/review-requests.ts';
import type { Jobs } from '../queue/queue.ts';
import type { Baselines } from './baselines.ts';
import { reviewsThatDependOn } from './judged-reviews.ts';
import type { PresentRules } from './other-rules.ts';

export interface RepositoryReviewDeps {
  readonly pool: pg.Pool;
  readonly rules: PresentRules;
  readonly enqueue: (requests: readonly ReviewRequest[]) => Promise<void>;
  readonly baselines: Pick<Baselines, 'isPolicyRepository' | 'refresh'>;
  /** Requests a resync, through which another baseline reaches open pull requests. */
  readonly requestResync: () => Promise<void>;
}

/**
 * After a push to a branch: requests the reviews whose verdict was judged by other rules than those that hold now, and
 * those that run. What the push lists is not looked at. Forges list a part of its commits, or none.
 */
export async function reviewRepository(
  { pool, rules, enqueue, baselines, requestResync }: RepositoryReviewDeps,
  { repository, branch }: Jobs['review-repository'],
  { again }: { readonly again: boolean },
): Promise<void> {
  if (baselines.isPolicyRepository(repository)) {
    const hasChanged = await baselines.refresh(repository);
    // The attempt before may have stored the change, and ended before its request.
    if (hasChanged || again) {
      await requestResync();
    }
  }
  const dependent = await reviewsThatDependOn(pool, repository, branch);
  // What a running review has read is not known: what is stored is of the review before.
  const running = dependent.filter(({ isRunning }) => isRunning);
  const outdated = await rules.outdated(dependent.filter(({ isRunning }) => !isRunning));
  const requested = [...running, ...outdated];
  if (requested.length > 0) {
    await enqueue(requested.map(({ number, repository: of }) => ({ kind: 'review', repository: of, number })));
  }
}
