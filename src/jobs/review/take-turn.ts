import { ForgeError } from '../../forges/port/forge-error.ts';
import type { PullRequestRef } from '../../forges/port/pull-request.ts';
import type { ReviewRequest } from '../../forges/port/review-requests.ts';
import type { ReviewDeps } from './review-deps.ts';
import { reviewPullRequest } from './review-pull-request.ts';

export interface TurnDeps extends ReviewDeps {
  readonly enqueue: (requests: readonly ReviewRequest[]) => Promise<void>;
}

/**
 * Judges a pull request again of which nothing tells that it has changed. Where that fails, a review is requested, which
 * is tried again and reports it. It waits for no limit: its turn comes again. A review that begins meanwhile overtakes
 * it.
 */
export async function takeTurn(deps: TurnDeps, ref: PullRequestRef, askedAt: Date, signal: AbortSignal): Promise<void> {
  const asked = { at: askedAt, secondsAgo: () => 0, isRetry: false, isLastAttempt: false, isTurn: true };
  try {
    await reviewPullRequest(deps, ref, asked, signal);
  } catch (err) {
    if (signal.aborted) {
      throw err;
    }
    if (err instanceof ForgeError && err.retryAt !== undefined) {
      deps.log.info({ ...ref, reason: err.message }, 'a pull request is not judged again now: its turn comes again');
      return;
    }
    deps.log.info({ err, ...ref }, 'a pull request could not be judged again in its turn: a review is requested');
    await deps.enqueue([{ kind: 'review', ...ref }]);
  }
}
