import type pg from 'pg';
import { guardWrites } from '../../forges/guard-writes.ts';
import type { Forge } from '../../forges/port/forge.ts';
import { ForgeError } from '../../forges/port/forge-error.ts';
import type { PostedStatus } from '../../forges/port/postings.ts';
import type { PullRequest, PullRequestNow, PullRequestRead, PullRequestRef } from '../../forges/port/pull-request.ts';
import { statusContext } from '../../forges/port/status-context.ts';
import { firstDifference, gatehouseDigest, type JudgedBy, presentReader } from '../../review/judged-by.ts';
import type { BaselineOf } from '../../review/policy/baseline.ts';
import type { IsMeant } from '../../review/policy/load.ts';
import type { Policy } from '../../review/policy/policy.ts';
import { build } from '../../version.ts';
import type { Claim } from '../tables/claim.ts';
import { readCommitState } from '../tables/commit-state.ts';
import { noteLeftSuccess } from '../tables/left-successes.ts';
import { type PostedBefore, type PostedRow, postedAt, type StatusPlace } from '../tables/posted-statuses.ts';
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
import { type CommitStatuses, commitStatuses } from './commit-status.ts';
import type { ForeignStatusDeps } from './foreign-status.ts';

export interface OpenReviewDeps extends ForeignStatusDeps {
  readonly forge: Forge;
  readonly pool: pg.Pool;
  /** The operator's policy, for repositories that have none of their own. */
  readonly fallback: Policy | undefined;
  readonly baselineOf: BaselineOf;
  readonly isMeant?: IsMeant;
  /** The name of the commit status, `{base}` for the base branch. */
  readonly statusContext: string;
  /** False: every status is `success`, whatever the verdict. */
  readonly enforce: boolean;
}

/** A review under way: its claim, and a forge that writes only as long as it holds the claim. */
export interface OpenReview {
  readonly forge: Forge;
  readonly statuses: CommitStatuses;
  writes(): number;
  /** Whether there is a verdict from before, or a review that was cut short, or this one has written something. */
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
   * Records what is under review, and corrects the status that showed the verdict before. Returns the digest of the
   * comments that it left when nothing that it depends on has changed: then only these are compared.
   */
  enter(read: Pick<PullRequestRead, 'pullRequest' | 'settled'>): Promise<string | undefined>;
  /** The status set last on its head, as it was when that was entered. */
  posted(place: StatusPlace): PostedBefore;
  /** `seen` are the statuses that the head was read with: those of others count for the forge's limit. */
  noteOthers(pullRequest: PullRequest, seen: readonly PostedStatus[] | undefined): Promise<void>;
  /** Shows the verdict that was saved, and remembers that it is shown. */
  report(pullRequest: PullRequest): Promise<void>;
  /** A search for all our comments found none. */
  foundNoComments(): Promise<void>;
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

/** Takes the claim. */
export async function openReview(deps: OpenReviewDeps, ref: PullRequestRef, signal: AbortSignal): Promise<OpenReview> {
  // A job that the engine has taken back must not take the claim from the one that has it now.
  signal.throwIfAborted();
  const { pool, statusContext: template } = deps;
  let { claim, before } = await beginReview(pool, ref);
  const isFirst = before === undefined;
  const spokeBefore = before !== undefined && (before.verdict !== 'none' || before.reportedAs === null);
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
  // These require the claim when they note that a status is about to be set.
  const statuses = commitStatuses({ ...deps, forge: guard.forge }, () => claim);
  const verdictBefore = before?.verdict;
  let posted: readonly PostedRow[] = before?.posted ?? [];
  /** The statuses of its head, where they were read with it. */
  let seen: readonly PostedStatus[] | undefined;
  let isSettled = false;
  /** Where this review has been: the head or the base may be replaced while it judges. */
  let entered: { readonly place: StatusPlace; readonly keepsSuccess: boolean } | undefined;

  /** Where the status of this pull request was: it shows what others have there, and without others no success. */
  async function leavePlace(place: StatusPlace, keepsSuccess: boolean): Promise<void> {
    await markClosed(pool, claim);
    const others = await statuses.showVerdict(place);
    if (!others && !keepsSuccess) {
      await statuses.withdrawSuccess(place);
    }
  }

  /** The same of a commit that it does not have any more: what fails there must not stop the review. */
  async function leaveCommit(...args: Parameters<typeof leavePlace>): Promise<void> {
    try {
      await leavePlace(...args);
    } catch (err) {
      if (!(err instanceof ForgeError) || err.kind === 'rate-limited') {
        throw err;
      }
      const [place] = args;
      const { repository, headSha, context } = place;
      await noteLeftSuccess(pool, place);
      deps.log.warn(
        { err, repository, headSha, context },
        'the status of an old head could not be set: the next resync tries again',
      );
    }
  }

  return {
    forge: guard.forge,
    statuses,
    hasSpoken: () => spokeBefore || guard.writes() > 0,
    hadVerdict: verdictBefore != null && verdictBefore !== 'none',
    isGoverned: false,
    overridesBefore: before?.overrides ?? [],
    writes: guard.writes,
    claim: () => claim,
    hasNoComments: () => commented === false,
    commentId: before?.commentId ?? undefined,
    async enter({ pullRequest, settled: known }) {
      const settled = known === 'yes';
      if (pullRequest.repository !== claim.repository) {
        await moveRepository(pool, claim.repository, pullRequest.repository);
        ({ claim, before } = await beginReview(pool, pullRequest));
        entered = undefined;
      }
      const context = statusContext(template, pullRequest.base.branch);
      if (isFirst && commented === null && pullRequest.commentCount === 0) {
        commented = false;
      }
      const keepsSuccess = before?.verdict === 'none';
      const last = entered ?? (before && { place: statuses.placeBefore(claim.repository, before), keepsSuccess });
      const isElsewhere =
        last !== undefined && (last.place.headSha !== pullRequest.head.sha || last.place.context !== context);
      if (isElsewhere) {
        // Before the new head replaces the old one in the table: a review that is cut short here leaves that again.
        const leave = last.place.headSha === pullRequest.head.sha ? leavePlace : leaveCommit;
        await leave(last.place, last.keepsSuccess);
      }
      if (before === undefined || isElsewhere || !isRecorded(before, pullRequest, context, { commented, settled })) {
        posted = await recordHead(pool, claim, pullRequest, context, { commented, settled });
      } else {
        posted = before.posted;
      }
      const shown = before?.verdict != null && before.verdict !== 'none' && before.reportedAs === context;
      const judgedBy = before?.judgedBy ?? null;
      before = undefined;
      entered = { place: statuses.placeOf(pullRequest), keepsSuccess: keepsSuccess && !isElsewhere };
      return !isElsewhere && shown && judgedBy !== null ? commentsOfUnchanged(deps, judgedBy, pullRequest) : undefined;
    },
    posted: (place) => postedAt(posted, place),
    async noteOthers(pullRequest, found) {
      seen = found;
      const place = statuses.placeOf(pullRequest);
      if (await statuses.noteOthers(place, postedAt(posted, place), seen)) {
        posted = (await readCommitState(pool, place.repository, place.headSha)).posted;
      }
    },
    async report(pullRequest) {
      await statuses.report(statuses.placeOf(pullRequest), claim);
      isSettled = true;
    },
    async foundNoComments() {
      if (commented === null) {
        await markUncommented(pool, claim);
        commented = false;
      }
    },
    async leave(pullRequest) {
      // Where the table does not know it, the forge says where its status is.
      const place = before
        ? statuses.placeBefore(claim.repository, before)
        : (entered?.place ?? (pullRequest && statuses.placeOf(pullRequest)));
      if (place !== undefined) {
        const keepsSuccess = entered?.keepsSuccess ?? before?.verdict === 'none';
        await leaveCommit(place, pullRequest?.state === 'merged' || keepsSuccess);
      }
      await deleteReview(pool, claim);
    },
    async leaveUnread(description) {
      if (before?.verdict != null && before.verdict !== 'none') {
        await markUnread(pool, claim, { state: 'error', description });
        await statuses.showVerdict(statuses.placeBefore(claim.repository, before));
      }
    },
    async leaveWaiting(description) {
      const place = entered?.place ?? (before && statuses.placeBefore(claim.repository, before));
      if (place === undefined || isSettled || verdictBefore === 'none') {
        return;
      }
      const last = postedAt(posted, place);
      // Before a first verdict, what others have set under this name is not ours to replace.
      const found = verdictBefore == null ? seen?.filter(({ own }) => own) : seen;
      const mayBeForeign = last.kind === 'status' && last.written === undefined;
      if (verdictBefore === 'success' || mayBeForeign || statuses.recordedSuccess(place, last, found)) {
        await markUnread(pool, claim, { state: 'pending', description });
        await statuses.replaceByVerdict(place);
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

/** Whether {@link recordHead} would change nothing. */
function isRecorded(
  before: ReviewBefore,
  { base, updatedAt }: PullRequest,
  context: string,
  { commented, settled }: { readonly commented: boolean | null; readonly settled: boolean },
): boolean {
  const isSameTime = settled
    ? before.updatedAt?.getTime() === new Date(updatedAt).getTime()
    : before.updatedAt === null;
  const isSamePlace = before.reportedAs === context && before.baseBranch === base.branch;
  return before.open && isSamePlace && before.commented === commented && isSameTime;
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
