import { ForgeError } from '../../forges/port/forge-error.ts';
import type { PullRequestRef } from '../../forges/port/pull-request.ts';
import { placeOfPullRequest } from '../publisher/publisher.ts';
import { markOutdated } from '../tables/reviews.ts';
import { givenUpBecause } from './given-up.ts';
import { isGoverned } from './governed.ts';
import { openReview } from './open-review.ts';
import { leaveClosed } from './record-merge.ts';
import type { ReviewDeps } from './review-deps.ts';
import { saveAndRecord } from './save-and-record.ts';

/**
 * After the last attempt: the status says error and why, as far as the forge will still take it. The head
 * then counts as one without a verdict, so that a resync comes back to it.
 */
export async function reportGivenUp(
  deps: ReviewDeps,
  ref: PullRequestRef,
  error: unknown,
  askedAt: Date,
  signal: AbortSignal,
): Promise<void> {
  const { forge, pool, log } = deps;
  try {
    const review = await openReview(deps, ref, signal);
    // Before the forge is asked, which may not answer.
    await markOutdated(pool, review.claim());
    const pullRequest = await forge.pullRequest(ref).catch(async (err: unknown) => {
      // Its author may have made it too large, and changed it since it was green.
      await review.leaveUnread(givenUpBecause(error));
      throw err;
    });
    if (pullRequest?.state !== 'open') {
      await leaveClosed(deps, review, pullRequest);
      return;
    }
    if (pullRequest.archived) {
      await review.leaveUnchanged();
      return;
    }
    if (!review.hadVerdict && !(await isGoverned(deps, placeOfPullRequest(deps, pullRequest)))) {
      log.info({ ...ref }, 'not reporting a failed review: the repository has no known policy');
      return;
    }
    await review.enter({ pullRequest, settled: 'unknown' });
    await saveAndRecord(deps, review.claim(), pullRequest, {
      state: 'error',
      description: givenUpBecause(error),
      url: pullRequest.url,
      result: undefined,
      askedAt,
    });
    await review.publish();
  } catch (err) {
    const what = err instanceof ForgeError ? { reason: err.message } : { err };
    log.warn({ ...what, ...ref }, 'could not set the status to error');
  }
}
