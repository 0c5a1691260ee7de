import { ForgeError } from '../../forges/port/forge-error.ts';
import type { PullRequestRef } from '../../forges/port/pull-request.ts';
import { placeOfPullRequest } from '../publisher/publisher.ts';
import { moveRepository } from '../tables/repositories.ts';
import { markOutdated } from '../tables/reviews.ts';
import { givenUpBecause } from './given-up.ts';
import { isGoverned } from './governed.ts';
import { leaveArchived, leaveClosed, leaveUnread } from './leave.ts';
import type { ReviewDeps } from './review-deps.ts';
import { saveAndRecord } from './save-and-record.ts';
import { begin, enter } from './under-way.ts';

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
    const review = await begin(deps, ref, signal);
    const { before, claim } = review;
    // Before the forge is asked, which may not answer.
    await markOutdated(pool, claim);
    const pullRequest = await forge.pullRequest(ref).catch(async (err: unknown) => {
      // Its author may have made it too large, and changed it since it was green.
      await leaveUnread(deps, review, givenUpBecause(error));
      throw err;
    });
    if (pullRequest?.state !== 'open') {
      await leaveClosed(deps, review, pullRequest);
      return;
    }
    if (pullRequest.repository !== ref.repository) {
      await moveRepository(pool, ref.repository, pullRequest.repository);
      await reportGivenUp(deps, { ...ref, repository: pullRequest.repository }, error, askedAt, signal);
      return;
    }
    if (pullRequest.archived) {
      await leaveArchived(deps, review);
      return;
    }
    const hadVerdict = before?.verdict != null && before.verdict !== 'none';
    if (!hadVerdict && !(await isGoverned(deps, placeOfPullRequest(deps, pullRequest)))) {
      log.info({ ...ref }, 'not reporting a failed review: the repository has no known policy');
      return;
    }
    const { place } = await enter(deps, review, { pullRequest, settled: 'unknown', preloaded: {} });
    await saveAndRecord(deps, claim, pullRequest, {
      state: 'error',
      description: givenUpBecause(error),
      url: before?.url || pullRequest.url,
      result: undefined,
      askedAt,
    });
    await review.publisher.publish(place);
  } catch (err) {
    const what = err instanceof ForgeError ? { reason: err.message } : { err };
    log.warn({ ...what, ...ref }, 'could not set the status to error');
  }
}
