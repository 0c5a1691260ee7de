import { ForgeError } from '../../forges/port/forge-error.ts';
import type { PullRequestRef } from '../../forges/port/pull-request.ts';
import { placeOfPullRequest } from '../publisher/publisher.ts';
import { moveRepository } from '../tables/repositories.ts';
import { markOutdated } from '../tables/reviews.ts';
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

const GIVEN_UP: Readonly<Record<ForgeError['kind'], string>> = {
  unavailable: 'the forge gave no usable answer',
  'rate-limited': 'the rate limit of the forge was reached',
  refused: 'Gatehouse’s credentials have no permission',
  invalid: 'the forge rejected a request',
  'too-large': 'a file or a list is larger than Gatehouse reads',
  'not-a-file': 'a path is a directory, a link or a submodule instead of a file',
};

/** What a status says after the last attempt. */
export function givenUpBecause(error: unknown): string {
  const reason = error instanceof ForgeError ? GIVEN_UP[error.kind] : 'an internal error, see the log of Gatehouse';
  return `Could not be reviewed: ${reason}`;
}
