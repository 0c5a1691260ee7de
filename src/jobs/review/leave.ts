import type { PullRequest } from '../../forges/port/pull-request.ts';
import { sameContext } from '../../forges/port/status-context.ts';
import { mayBeGreen, type PublisherDeps, placeOfPullRequest } from '../publisher/publisher.ts';
import { deleteReview, markClosed, markLookedAt, markUnread } from '../tables/reviews.ts';
import { notePlace, readCommit } from '../tables/statuses.ts';
import { type RecordMergeDeps, recordMerge } from './record-merge.ts';
import { type Entered, isSame, publishOld, rowOf, type UnderWay } from './under-way.ts';

/** The pull request cannot be merged, or is merged: unless it is, its success is withdrawn. Undefined: it is gone. */
export async function leaveClosed(
  deps: PublisherDeps & RecordMergeDeps,
  { claim, before, placeBefore, publisher }: UnderWay,
  pullRequest: PullRequest | undefined,
): Promise<void> {
  const { pool } = deps;
  if (pullRequest?.state === 'merged') {
    // Before the review forgets it: where this fails, a resync comes back to it.
    await recordMerge(deps, pullRequest);
  }
  await markClosed(pool, claim);
  const last = pullRequest && placeOfPullRequest(deps, pullRequest);
  // Where the table does not know it, the forge says where its status is.
  const place = placeBefore ?? last;
  if (place !== undefined) {
    const hasRow = rowOf((await readCommit(pool, place)).places, place) !== undefined;
    // Its head or its base may have been another one since.
    const isMerged = pullRequest?.state === 'merged' && isSame(place, last);
    if (hasRow && isMerged) {
      await notePlace(pool, place, 'merged', true);
    }
    if (hasRow || (!isMerged && before?.verdict !== 'none')) {
      await publishOld(deps, publisher, place);
    }
  }
  await deleteReview(pool, claim);
}

/** Nothing can be written. What is stored is kept: pull requests that share a head need it when that changes. */
export async function leaveArchived(
  { pool }: Pick<PublisherDeps, 'pool'>,
  { claim, before }: Pick<UnderWay, 'claim' | 'before'>,
): Promise<void> {
  await (before === undefined ? deleteReview(pool, claim) : markLookedAt(pool, claim));
}

/** The pull request cannot be read: a status that shows a verdict on it becomes an error. */
export async function leaveUnread(
  { pool }: Pick<PublisherDeps, 'pool'>,
  { claim, before, placeBefore, publisher }: UnderWay,
  description: string,
): Promise<void> {
  if (placeBefore !== undefined && before?.verdict != null && before.verdict !== 'none') {
    await markUnread(pool, claim, { state: 'error', description });
    await publisher.publish(placeBefore);
  }
}

/**
 * Its job has to wait. What was judged before may not hold any more, so a status that may show a success becomes
 * pending. Nothing is read for it.
 */
export async function leaveWaiting(
  { forge, pool }: Pick<PublisherDeps, 'forge' | 'pool'>,
  { claim, before, placeBefore, publisher }: UnderWay,
  entered: Entered | undefined,
  description: string,
): Promise<void> {
  const place = entered?.place ?? placeBefore;
  if (place === undefined || before?.verdict === 'none') {
    return;
  }
  const row = rowOf((await readCommit(pool, place)).places, place);
  const statuses = entered?.seen?.statuses ?? [];
  // Before a first verdict, what others have set under this name is not ours to replace.
  const isFirst = before?.verdict == null && before?.rules == null;
  const found = isFirst ? statuses.filter(({ own }) => own) : statuses;
  const isSeen = found.some((one) => one.state === 'success' && sameContext(forge.name, one.context, place.context));
  const mayBeForeign = row?.state != null && row.uncounted;
  if (before?.verdict === 'success' || mayBeGreen(row) || mayBeForeign || isSeen) {
    await markUnread(pool, claim, { state: 'pending', description });
    await publisher.publish(place);
  }
}
