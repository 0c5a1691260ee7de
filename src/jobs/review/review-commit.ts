import type pg from 'pg';
import type { StatusSetBy } from '../../forges/port/events.ts';
import { ForgeError } from '../../forges/port/forge-error.ts';
import type { PostedStatus } from '../../forges/port/postings.ts';
import type { PullRequestRef } from '../../forges/port/pull-request.ts';
import type { ReviewRequest } from '../../forges/port/review-requests.ts';
import { makePublisher, type PublisherDeps, placeOf, stateOf } from '../publisher/publisher.ts';
import type { Jobs } from '../queue/queue.ts';
import { type Place, placeAt, readCommit } from '../tables/statuses.ts';

export interface CommitReviewDeps extends PublisherDeps {
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
  // A status under the name of one pull request's is a check of the others with this head.
  const asking = await reviewsThatAsk(deps.pool, job);
  if (asking.length > 0) {
    await deps.enqueue(asking.map(({ number }) => ({ kind: 'review', repository, number })));
  }
  const own = ownName && (await ownPlace(deps, job, ownName));
  if (own !== undefined) {
    const { place, posting } = own;
    const statuses = await seenAt(deps, place, ownName?.by ?? '');
    await makePublisher(deps).publish(place, { seen: { statuses, posting } });
  }
}

/** The place of that name, if Gatehouse has spoken there or has something to say; and how many posts have begun there. */
async function ownPlace(
  deps: CommitReviewDeps,
  commit: Jobs['review-commit'],
  { context }: StatusSetBy,
): Promise<{ readonly place: Place; readonly posting: number } | undefined> {
  const named = placeAt(deps.forge.name, commit, context);
  const { verdicts, row } = stateOf(deps, await readCommit(deps.pool, commit), named);
  const [first] = verdicts.filter(({ verdict }) => verdict !== 'none');
  // By the name as Gatehouse spells it.
  const place = first ? placeOf(deps, commit, first.baseBranch) : row && { ...named, context: row.context };
  return place && { place, posting: row?.posting ?? 0 };
}

/** Where the forge does not answer, what the webhook told: it may be a success. */
async function seenAt(
  { forge }: CommitReviewDeps,
  { repository, headSha, context }: Place,
  by: string,
): Promise<readonly PostedStatus[]> {
  try {
    const present = await forge.status(repository, headSha, context);
    return present === undefined ? [] : [present];
  } catch (error) {
    if (!(error instanceof ForgeError)) {
      throw error;
    }
    return [{ context, state: 'success', description: '', own: false, creator: by }];
  }
}

/** The open pull requests with this head whose policy asks for such facts. */
async function reviewsThatAsk(
  pool: pg.Pool,
  { repository, headSha, facts }: Jobs['review-commit'],
): Promise<readonly PullRequestRef[]> {
  const { rows } = await pool.query<PullRequestRef>(
    `SELECT repository, pull_request AS number FROM gatehouse.reviews
      WHERE repository = $1 AND head_sha = $2 AND open AND asks && $3 ORDER BY pull_request`,
    [repository, headSha, facts],
  );
  return rows;
}
