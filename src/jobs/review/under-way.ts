import { guardWrites } from '../../forges/guard-writes.ts';
import type { Forge } from '../../forges/port/forge.ts';
import { ForgeError } from '../../forges/port/forge-error.ts';
import type { PullRequest, PullRequestRead, PullRequestRef } from '../../forges/port/pull-request.ts';
import {
  makePublisher,
  type Publisher,
  type PublisherDeps,
  type PublishOptions,
  placeOf,
  placeOfPullRequest,
} from '../publisher/publisher.ts';
import type { Claim } from '../tables/claim.ts';
import { beginReview, markClosed, type ReviewBefore, recordHead, requireClaim } from '../tables/reviews.ts';
import { noteUnsure, type Place, type PlaceRow } from '../tables/statuses.ts';

/** A review under way. */
export interface UnderWay {
  readonly claim: Claim;
  /** What the last one left; undefined: there was none. */
  readonly before: ReviewBefore | undefined;
  /** Where that is shown. */
  readonly placeBefore: Place | undefined;
  /** Writes comments only as long as the claim is held. */
  readonly forge: Forge;
  writes(): number;
  /** Whoever publishes shows what is stored, and only the newest review can store something. */
  readonly publisher: Publisher;
}

/** Takes the claim. After `signal` nothing is written. */
export async function begin(deps: PublisherDeps, ref: PullRequestRef, signal: AbortSignal): Promise<UnderWay> {
  // A job that the engine has taken back must not take the claim from the one that has it now.
  signal.throwIfAborted();
  const { claim, before } = await beginReview(deps.pool, ref);
  const { forge, writes } = guardWrites(deps.forge, async (write) => {
    signal.throwIfAborted();
    if (write !== 'setStatus') {
      await requireClaim(deps.pool, claim);
    }
  });
  return {
    claim,
    before,
    placeBefore: before && placeOf(deps, { ...ref, headSha: before.headSha }, before.baseBranch),
    forge,
    writes,
    publisher: makePublisher({ ...deps, forge }),
  };
}

/** An open pull request, as the tables have it from now on. */
export interface Entered {
  /** Where its status is. */
  readonly place: Place;
  /** What is stored of that. */
  readonly row: PlaceRow | undefined;
  /** The statuses of its head, as they were read. */
  readonly seen: PublishOptions['seen'];
  /** Whether the verdict from before counts until there is another. */
  readonly keepsVerdict: boolean;
}

/** Records what is under review, and publishes what is left where it was before. */
export async function enter(
  deps: PublisherDeps,
  { claim, before, placeBefore, publisher }: UnderWay,
  { pullRequest, settled, preloaded }: Pick<PullRequestRead, 'pullRequest' | 'settled' | 'preloaded'>,
): Promise<Entered> {
  const { pool } = deps;
  const place = placeOfPullRequest(deps, pullRequest);
  const row = before?.headSha === place.headSha ? rowOf(before.places, place) : undefined;
  const isElsewhere = placeBefore !== undefined && !isSame(placeBefore, place);
  if (isElsewhere) {
    // Before the new head replaces the old one in the table: a review that is cut short here leaves that again.
    await markClosed(pool, claim);
    const onSameHead = placeBefore.headSha === place.headSha;
    await (onSameHead ? publisher.publish(placeBefore) : publishOld(deps, publisher, placeBefore));
  }
  const keepsVerdict = before !== undefined && !isElsewhere && stillCounts(before, pullRequest, row);
  const isSettled = settled === 'yes';
  if (!keepsVerdict || !isRecorded(before, pullRequest, isSettled)) {
    await recordHead(pool, claim, pullRequest, { settled: isSettled, keepsVerdict });
  }
  const { statuses } = preloaded;
  return { place, row, keepsVerdict, seen: statuses && { statuses, posting: row?.posting ?? 0 } };
}

/** What fails on a commit that it does not have any more must not stop the review: the next resync tries again. */
export async function publishOld({ pool, log }: PublisherDeps, publisher: Publisher, place: Place): Promise<void> {
  try {
    await publisher.publish(place);
  } catch (err) {
    if (!(err instanceof ForgeError) || err.kind === 'rate-limited') {
      throw err;
    }
    await noteUnsure(pool, place);
    const { repository, headSha, context } = place;
    const message = 'the status of an old head could not be set: the next resync tries again';
    log.warn({ err, repository, headSha, context }, message);
  }
}

export function isSame(one: Place, other: Place | undefined): boolean {
  return one.headSha === other?.headSha && one.key === other.key;
}

export function rowOf(places: readonly PlaceRow[], { key }: Place): PlaceRow | undefined {
  return places.find((row) => row.key === key);
}

/** Whether the pull request has not changed since the last review read it: a list would show nothing new. */
export function isAsBefore(before: ReviewBefore | undefined, read: PullRequestRead | undefined): boolean {
  const { pullRequest, settled } = read ?? {};
  return (
    before !== undefined &&
    pullRequest?.state === 'open' &&
    !pullRequest.archived &&
    pullRequest.head.sha === before.headSha &&
    settled === 'yes' &&
    isRecorded(before, pullRequest, true)
  );
}

/** Whether {@link recordHead} would change nothing. */
function isRecorded(before: ReviewBefore, { base, updatedAt }: PullRequest, settled: boolean): boolean {
  const isSameTime = settled
    ? before.updatedAt?.getTime() === new Date(updatedAt).getTime()
    : before.updatedAt === null;
  return before.open && before.baseBranch === base.branch && isSameTime;
}

/** A success counts only where it was shown. */
function stillCounts(before: ReviewBefore, { base }: PullRequest, row: PlaceRow | undefined): boolean {
  const isShown = before.verdict !== null && (before.verdict !== 'success' || row?.state != null);
  return before.baseBranch === base.branch && (before.rules !== null || before.verdict === 'none') && isShown;
}
