import { guardWrites } from '../../forges/guard-writes.ts';
import { ForgeError } from '../../forges/port/forge-error.ts';
import type { PullRequestRef } from '../../forges/port/pull-request.ts';
import type { ReviewRequest } from '../../forges/port/review-requests.ts';
import type { ReviewDeps } from './review-deps.ts';
import { reviewPullRequest } from './review-pull-request.ts';

export interface TurnDeps extends ReviewDeps {
  readonly enqueue: (requests: readonly ReviewRequest[]) => Promise<void>;
}

/** A turn has come to where a review comments. */
class CommentDueError extends Error {
  override readonly name = 'CommentDueError';
}

/**
 * Judges a pull request again of which nothing tells that it has changed. A review may begin meanwhile, and both would
 * comment at once: where a comment is due, or where judging fails, a review is requested instead, which is tried again
 * and reports it. A turn waits for no limit: it comes again.
 */
export async function takeTurn(deps: TurnDeps, ref: PullRequestRef, askedAt: Date, signal: AbortSignal): Promise<void> {
  const { log, enqueue } = deps;
  const { forge } = guardWrites(deps.forge, async (write) => {
    if (write !== 'setStatus') {
      throw new CommentDueError('its comments are others by now');
    }
  });
  const asked = { at: askedAt, secondsAgo: () => 0, isRetry: false, isLastAttempt: false, isTurn: true };
  try {
    await reviewPullRequest({ ...deps, forge }, ref, asked, signal);
  } catch (err) {
    if (signal.aborted) {
      throw err;
    }
    if (err instanceof ForgeError && err.retryAt !== undefined) {
      log.info({ ...ref, reason: err.message }, 'a pull request is not judged again now: its turn comes again');
      return;
    }
    log.info({ err, ...ref }, 'a pull request’s turn comes to no end: a review is requested');
    await enqueue([{ kind: 'review', ...ref }]);
  }
}
