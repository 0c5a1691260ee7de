import type pg from 'pg';
import { guardWrites } from '../../forges/guard-writes.ts';
import { ForgeError } from '../../forges/port/forge-error.ts';
import type { PullRequestRef } from '../../forges/port/pull-request.ts';
import type { ReviewRequest } from '../../forges/port/review-requests.ts';
import type { ForgeAccess } from '../forge-access.ts';
import { isUnderReview } from '../queue/under-review.ts';
import type { ReviewDeps } from './review-deps.ts';
import { reviewPullRequest } from './review-pull-request.ts';

export interface TurnDeps extends ReviewDeps {
  readonly access: Pick<ForgeAccess, 'check'>;
  readonly enqueue: (requests: readonly ReviewRequest[]) => Promise<void>;
}

/**
 * Judges a pull request again of which nothing tells that it has changed. A review may begin meanwhile, and both would
 * comment at once: where a comment is due, where the pull request has changed after all, or where judging fails, a review
 * is requested instead, which is tried again and reports it. A turn waits for nothing: it comes again.
 */
export async function takeTurn(deps: TurnDeps, ref: PullRequestRef, askedAt: Date, signal: AbortSignal): Promise<void> {
  const { access, pool, log, enqueue } = deps;
  if (!(await isIdle(pool, ref))) {
    return;
  }
  const { forge } = guardWrites(deps.forge, async (write) => {
    if (write !== 'setStatus') {
      throw new Error('its comments are others by now');
    }
  });
  const asked = { at: askedAt, secondsAgo: () => 0, isRetry: false, isLastAttempt: false, isTurn: true };
  try {
    await reviewPullRequest({ ...deps, forge }, ref, asked, signal);
  } catch (err) {
    if (signal.aborted) {
      throw err;
    }
    if (err instanceof ForgeError && (err.retryAt !== undefined || (await isAway(access, err)))) {
      log.info({ ...ref, reason: err.message }, 'a turn was put off: the pull request keeps its place in line');
      return;
    }
    log.info({ err, ...ref }, 'a turn ends early: a review is requested instead');
    await enqueue([{ kind: 'review', ...ref }]);
  }
}

/** Whether no review of it waits or runs: one that is about to end would have to begin anew. */
async function isIdle(pool: pg.Pool, { repository, number }: PullRequestRef): Promise<boolean> {
  const { rowCount } = await pool.query(
    `SELECT FROM gatehouse.reviews r WHERE repository = $1 AND pull_request = $2 AND NOT ${isUnderReview('r')}`,
    [repository, number],
  );
  return rowCount !== 0;
}

/** It concerns not this pull request, but all. */
async function isAway(access: TurnDeps['access'], { kind }: ForgeError): Promise<boolean> {
  const found = kind === 'unavailable' || kind === 'refused' ? await access.check() : undefined;
  return found?.kind === 'unreachable' || found?.kind === 'not-accepted';
}
