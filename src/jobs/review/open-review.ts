import { guardWrites } from '../../forges/guard-writes.ts';
import type { Forge } from '../../forges/port/forge.ts';
import { ForgeError } from '../../forges/port/forge-error.ts';
import type { PostedStatus, StatusState } from '../../forges/port/postings.ts';
import type { PullRequest, PullRequestNow, PullRequestRead, PullRequestRef } from '../../forges/port/pull-request.ts';
import { sameContext } from '../../forges/port/status-context.ts';
import { firstDifference, gatehouseDigest, type JudgedBy, presentReader } from '../../review/judged-by.ts';
import type { BaselineOf } from '../../review/policy/baseline.ts';
import type { IsMeant } from '../../review/policy/load.ts';
import type { Policy } from '../../review/policy/policy.ts';
import { build } from '../../version.ts';
import {
  makePublisher,
  mayBeGreen,
  type PublisherDeps,
  type PublishOptions,
  placeOf,
  placeOfPullRequest,
} from '../publisher/publisher.ts';
import type { Claim } from '../tables/claim.ts';
import { moveRepository } from '../tables/repositories.ts';
import {
  beginReview,
  deleteReview,
  markClosed,
  markCommented,
  markUncommented,
  markUnread,
  type ReviewBefore,
  recordHead,
  requireClaim,
} from '../tables/reviews.ts';
import { notePlace, noteUnsure, type Place, type PlaceRow, readCommit } from '../tables/statuses.ts';

export interface OpenReviewDeps extends PublisherDeps {
  /** The operator's policy, for repositories that have none of their own. */
  readonly fallback: Policy | undefined;
  readonly baselineOf: BaselineOf;
  readonly isMeant?: IsMeant;
}

/** A review under way: its claim, and a forge that writes only as long as it holds the claim. */
export interface OpenReview {
  readonly forge: Forge;
  writes(): number;
  /** Whether there may be something on the pull request that this, or an earlier review, has written. */
  hasSpoken(): boolean;
  /** Whether a policy asked for the verdict before, on the same head and base. */
  readonly hadVerdict: boolean;
  /** Whether it has found a policy in force. */
  isGoverned: boolean;
  claim(): Claim;
  /** Ids of the comments whose overrides counted in the verdict before. */
  readonly overridesBefore: readonly string[];
  /** Whether the pull request certainly has no comment of Gatehouse. */
  hasNoComments(): boolean;
  /** The id of our comment in the conversation, as the last review left it. */
  readonly commentId: string | undefined;
  /**
   * Records what is under review, and publishes what is left where it was before. Returns the digest of the comments
   * that it left when nothing that it depends on has changed: then only these are compared.
   */
  enter(read: Entered): Promise<string | undefined>;
  /** Before it is judged: what is stored is shown, unless that is a success. */
  publishPending(): Promise<void>;
  /** What is stored is the verdict, or that there is none. `isUnchanged`: of a moment ago. */
  publish(how?: { readonly isUnchanged?: boolean }): Promise<void>;
  /** Whether a verdict of this state can no longer be shown, because the commit has too many statuses. */
  isFull(state: StatusState): Promise<boolean>;
  /** A search for all our comments found none. */
  foundNoComments(): Promise<void>;
  withdrewComments(): Promise<void>;
  /** The pull request cannot be merged, or is merged. Unless it is, its success is withdrawn. Undefined: it is gone. */
  leave(pullRequest: PullRequest | undefined): Promise<void>;
  /** The pull request cannot be read: a status that shows a verdict on it becomes an error. */
  leaveUnread(description: string): Promise<void>;
  /**
   * Its job has to wait. What was judged before may not hold any more, so a status that may show a success becomes
   * pending. Nothing is read for it.
   */
  leaveWaiting(description: string): Promise<void>;
  /** What stands may stay while its job waits: it is this review's, or the pull request is closed or needs none. */
  settle(): void;
  /** Nothing can be written. What is stored is kept: pull requests that share a head need it when that changes. */
  leaveUnchanged(): Promise<void>;
}

type Entered = Pick<PullRequestRead, 'pullRequest' | 'settled'> & {
  /** Statuses that the head was read with. */
  readonly statuses?: readonly PostedStatus[] | undefined;
};

/** Takes the claim. */
export async function openReview(deps: OpenReviewDeps, ref: PullRequestRef, signal: AbortSignal): Promise<OpenReview> {
  // A job that the engine has taken back must not take the claim from the one that has it now.
  signal.throwIfAborted();
  const { pool, log } = deps;
  let { claim, before } = await beginReview(pool, ref);
  const isFirst = before === undefined;
  const verdictBefore = before?.verdict;
  const overridesBefore = before?.overrides ?? [];
  const commentId = before?.commentId ?? undefined;
  let commented = before?.commented ?? null;
  const guard = guardWrites(deps.forge, async (write) => {
    signal.throwIfAborted();
    if (commented !== true && (write === 'createComment' || write === 'createInlineComments')) {
      await markCommented(pool, claim);
      commented = true;
    } else if (write !== 'setStatus') {
      await requireClaim(pool, claim);
    }
  });
  // Whoever publishes shows what is stored, and only the newest review can store something.
  const publisher = makePublisher({ ...deps, forge: guard.forge });
  /** Where the status of this pull request is; undefined: it was not read yet. */
  let entered: Place | undefined;
  /** What is stored of that, and whether the verdict from before counts until there is another. */
  let row: PlaceRow | undefined;
  let keepsVerdict = false;
  /** The statuses of its head, as they were read. */
  let seen: PublishOptions['seen'];
  let isCounted = false;
  let isSettled = false;

  function present(): Place {
    if (entered === undefined) {
      throw new Error('the pull request was not read');
    }
    return entered;
  }

  const placeBefore = (last: ReviewBefore) => placeOf(deps, { ...claim, headSha: last.headSha }, last.baseBranch);

  async function noteNoComments(): Promise<void> {
    await markUncommented(pool, claim);
    commented = false;
  }

  /** What fails on a commit that it does not have any more must not stop the review: the next resync tries again. */
  async function publishOld(place: Place): Promise<void> {
    try {
      await publisher.publish(place);
    } catch (err) {
      if (!(err instanceof ForgeError) || err.kind === 'rate-limited') {
        throw err;
      }
      await noteUnsure(pool, place);
      const { repository, headSha, context } = place;
      log.warn(
        { err, repository, headSha, context },
        'the status of an old head could not be set: the next resync tries again',
      );
    }
  }

  return {
    forge: guard.forge,
    hasSpoken: () =>
      (!isFirst && verdictBefore !== 'none') ||
      guard.writes() > 0 ||
      commented === true ||
      (row !== undefined && commented === null),
    hadVerdict: verdictBefore != null && verdictBefore !== 'none',
    isGoverned: false,
    overridesBefore,
    writes: guard.writes,
    claim: () => claim,
    hasNoComments: () => commented === false,
    commentId,
    async enter({ pullRequest, settled: known, statuses }) {
      const settled = known === 'yes';
      if (pullRequest.repository !== claim.repository) {
        await moveRepository(pool, claim.repository, pullRequest.repository);
        ({ claim, before } = await beginReview(pool, pullRequest));
        entered = undefined;
      }
      if (isFirst && commented === null && pullRequest.commentCount === 0) {
        commented = false;
      }
      const place = placeOfPullRequest(deps, pullRequest);
      const last = entered ?? (before && placeBefore(before));
      const isElsewhere = last !== undefined && !isSame(last, place);
      if (before !== undefined || isElsewhere) {
        row = before?.headSha === place.headSha ? rowOf(before.places, place) : undefined;
        keepsVerdict = before !== undefined && !isElsewhere && stillCounts(before, pullRequest, row);
      }
      if (isElsewhere) {
        // Before the new head replaces the old one in the table: a review that is cut short here leaves that again.
        await markClosed(pool, claim);
        const onSameHead = last.headSha === place.headSha;
        await (onSameHead ? publisher.publish(last) : publishOld(last));
      }
      if (!keepsVerdict || !isRecorded(before, pullRequest, { commented, settled })) {
        await recordHead(pool, claim, pullRequest, { commented, settled, keepsVerdict });
      }
      const judgedBy = keepsVerdict && before?.verdict !== 'none' ? before?.judgedBy : undefined;
      before = undefined;
      entered = place;
      seen = statuses && { statuses, posting: row?.posting ?? 0 };
      // Where the commit takes no more statuses, a new comment says so.
      const isShown = row?.takes !== 'nothing';
      return judgedBy == null || !isShown ? undefined : commentsOfUnchanged(deps, judgedBy, pullRequest);
    },
    async publishPending() {
      row = await publisher.publish(present(), { seen, withoutSuccess: true });
    },
    async publish({ isUnchanged = false } = {}) {
      // Somebody may have set another one while it was judged.
      const isFresh = isUnchanged || row === undefined;
      await publisher.publish(present(), { isCounted, ...(isFresh && { seen }) });
      isSettled = true;
    },
    isFull(state) {
      isCounted = true;
      return publisher.isFull(present(), state, row);
    },
    async foundNoComments() {
      if (commented === null) {
        await noteNoComments();
      }
    },
    withdrewComments: noteNoComments,
    async leave(pullRequest) {
      const last = pullRequest && placeOfPullRequest(deps, pullRequest);
      // Where the table does not know it, the forge says where its status is.
      const place = before ? placeBefore(before) : (entered ?? last);
      await markClosed(pool, claim);
      if (place !== undefined) {
        const hasRow = rowOf((await readCommit(pool, place)).places, place) !== undefined;
        // Its head or its base may have been another one since.
        const isMerged = pullRequest?.state === 'merged' && isSame(place, last);
        if (hasRow && isMerged) {
          await notePlace(pool, place, 'merged', true);
        }
        if (hasRow || (!isMerged && verdictBefore !== 'none')) {
          await publishOld(place);
        }
      }
      await deleteReview(pool, claim);
    },
    async leaveUnread(description) {
      if (before?.verdict != null && before.verdict !== 'none') {
        await markUnread(pool, claim, { state: 'error', description });
        await publisher.publish(placeBefore(before));
      }
    },
    async leaveWaiting(description) {
      const place = entered ?? (before && placeBefore(before));
      if (place === undefined || isSettled || verdictBefore === 'none') {
        return;
      }
      const now = rowOf((await readCommit(pool, place)).places, place);
      // Before a first verdict, what others have set under this name is not ours to replace.
      const found = verdictBefore == null ? seen?.statuses.filter(({ own }) => own) : seen?.statuses;
      const isSeen = found?.some(
        (one) => one.state === 'success' && sameContext(deps.forge.name, one.context, place.context),
      );
      const mayBeForeign = now?.state != null && now.uncounted;
      if (verdictBefore === 'success' || mayBeGreen(now) || mayBeForeign || isSeen) {
        await markUnread(pool, claim, { state: 'pending', description });
        await publisher.publish(place);
      }
    },
    settle() {
      isSettled = true;
    },
    async leaveUnchanged() {
      if (before === undefined) {
        await deleteReview(pool, claim);
      }
    },
  };
}

function isSame(one: Place, other: Place | undefined): boolean {
  return one.headSha === other?.headSha && one.key === other.key;
}

function rowOf(places: readonly PlaceRow[], { key }: Place): PlaceRow | undefined {
  return places.find((row) => row.key === key);
}

/** Whether {@link recordHead} would change nothing. */
function isRecorded(
  before: ReviewBefore | undefined,
  { base, updatedAt }: PullRequest,
  { commented, settled }: { readonly commented: boolean | null; readonly settled: boolean },
): boolean {
  const isSameTime = settled
    ? before?.updatedAt?.getTime() === new Date(updatedAt).getTime()
    : before?.updatedAt === null;
  return before?.open === true && before.baseBranch === base.branch && before.commented === commented && isSameTime;
}

/** Whether a verdict from before counts until there is another. A success does only where it was shown. */
function stillCounts(before: ReviewBefore, { base }: PullRequest, row: PlaceRow | undefined): boolean {
  const isShown = before.verdict !== null && (before.verdict !== 'success' || row?.state != null);
  return before.baseBranch === base.branch && (before.judgedBy !== null || before.verdict === 'none') && isShown;
}

/** Undefined where something differs, or the baseline is not known: then it is judged, which reports why. */
async function commentsOfUnchanged(
  context: OpenReviewDeps,
  judgedBy: JudgedBy,
  pullRequest: PullRequestNow,
): Promise<string | undefined> {
  const { baseCommit, differenceBase } = pullRequest;
  if (judgedBy.alone === undefined || baseCommit === undefined || differenceBase === undefined) {
    return undefined;
  }
  const { operatorPolicy, machineAccounts, baseline } = presentReader(context).of(
    pullRequest.repository,
    pullRequest.base.branch,
  );
  const gatehouse = gatehouseDigest(context, build);
  try {
    const now = {
      pullRequest,
      baseCommit: async () => baseCommit,
      operatorPolicy,
      machineAccounts,
      baseline,
      gatehouse,
    };
    return (await firstDifference(judgedBy, now)) === undefined ? judgedBy.alone.comments : undefined;
  } catch (error) {
    if (error instanceof ForgeError) {
      return undefined;
    }
    throw error;
  }
}
