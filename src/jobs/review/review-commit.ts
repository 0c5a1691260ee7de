import type { StatusSetBy } from '../../forges/port/events.ts';
import type { PullRequestRef } from '../../forges/port/pull-request.ts';
import type { ReviewRequest } from '../../forges/port/review-requests.ts';
import { sameContext, statusContext } from '../../forges/port/status-context.ts';
import type { Jobs } from '../queue/queue.ts';
import { forgetWritten, statusPlace } from '../tables/posted-statuses.ts';
import { verdictsOnHead } from '../tables/reviews.ts';
import { commitStatuses, type StatusOptions } from './commit-status.ts';
import { reportForeignStatus } from './foreign-status.ts';

export interface CommitReviewDeps extends StatusOptions {
  readonly enqueue: (requests: readonly ReviewRequest[]) => Promise<void>;
}

/**
 * After others have changed a fact about a commit, such as its checks: requests the reviews of the open pull requests
 * with this head whose policy asks for it. The forge is not asked: most checks are of commits that no policy waits for.
 */
export async function reviewCommit(deps: CommitReviewDeps, job: Jobs['review-commit']): Promise<void> {
  const { repository, ownName } = job;
  const by = ownName?.by ?? job.by;
  if (by !== undefined && by.toLowerCase() === (await deps.forge.self()).toLowerCase()) {
    return;
  }
  const asking = await reviewsThatAsk(deps, job);
  const named = ownName === undefined ? [] : await reviewsWithStatus(deps, job, ownName);
  // A status under the name of one pull request's is a check of the others with this head.
  const numbers = new Set([...asking, ...named].map(({ number }) => number));
  if (numbers.size > 0) {
    await deps.enqueue([...numbers].map((number) => ({ kind: 'review', repository, number })));
  }
}

/**
 * Those that the status stands for, if somebody else has set it. One whose first review is under way may have read it
 * before that. On a commit without one, as of a merge group, the own status is set again.
 */
async function reviewsWithStatus(
  deps: CommitReviewDeps,
  { repository, headSha }: Jobs['review-commit'],
  { context, by }: StatusSetBy,
): Promise<readonly { readonly number: number }[]> {
  const isNamed = (name: string) => sameContext(deps.forge.name, name, context);
  const sharing = (await verdictsOnHead(deps.pool, repository, headSha)).filter(
    ({ state, baseBranch }) => state !== 'none' && isNamed(statusContext(deps.statusContext, baseBranch)),
  );
  const place = statusPlace(deps.forge.name, { repository, headSha, context });
  if (sharing.length > 0) {
    await forgetWritten(deps.pool, place, true);
  }
  if (sharing.length > 0 || (await commitStatuses(deps).setAgain(place))) {
    reportForeignStatus(deps, place, by);
  }
  return sharing;
}

/** The open pull requests with this head whose policy asks for such facts. */
async function reviewsThatAsk(
  { pool }: CommitReviewDeps,
  { repository, headSha, facts }: Jobs['review-commit'],
): Promise<readonly PullRequestRef[]> {
  const { rows } = await pool.query<PullRequestRef>(
    `SELECT repository, pull_request AS number FROM gatehouse.reviews
      WHERE repository = $1 AND head_sha = $2 AND open AND asks && $3 ORDER BY pull_request`,
    [repository, headSha, facts],
  );
  return rows;
}
