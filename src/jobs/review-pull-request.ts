import type pg from 'pg';
import type { Forge } from '../forges/forge.ts';
import { ForgeError } from '../forges/forge-error.ts';
import { guardWrites } from '../forges/guard-writes.ts';
import type { PullRequest, PullRequestRef } from '../forges/pull-request.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import type { Verdict } from '../review/evaluation/verdict.ts';
import { isCurrent, judgeOnce } from '../review/judge.ts';
import type { Policy } from '../review/policy/schema.ts';
import { commentUrl, linksOf } from '../review/rendering/links.ts';
import { reportComments, withdrawComments, withRefusals } from '../review/report.ts';
import { statusContext } from '../review/status-context.ts';
import type { ReviewThreads } from '../review/threads/review-threads.ts';
import { releaseStatus, reportStatus, type StatusParts, withdrawSuccess } from './report-status.ts';
import {
  beginReview,
  type Claim,
  deleteReview,
  LostClaimError,
  markClosed,
  markReported,
  moveRepository,
  type ReportedStatus,
  recordChecksAsked,
  recordHead,
  requireClaim,
  saveVerdict,
} from './reviews-table.ts';

export interface ReviewParts {
  readonly forge: Forge;
  /** What parses and evaluates what people wrote. */
  readonly threads: ReviewThreads;
  readonly pool: pg.Pool;
  /** The operator's policy, for repositories that have none of their own. */
  readonly fallback: Policy | undefined;
  /** The name of the commit status, `{base}` for the base branch. */
  readonly statusContext: string;
  readonly metrics: Metrics;
  readonly log: Log;
}

/** A pull request that changes while it is reviewed is reviewed again, this many times at most. */
const MAX_ATTEMPTS = 3;

/**
 * Brings the review of a pull request up to date with its present state, whatever has happened to it and
 * however often. May be cut short anywhere: the next run completes what is missing and repeats nothing.
 * Returns `overtaken` when a newer review took the claim: that one may still be cut short itself.
 * `askedAt` is when the delivery that requested it was committed; after `signal` nothing more is written.
 */
export async function reviewPullRequest(
  parts: ReviewParts,
  ref: PullRequestRef,
  askedAt: Date,
  signal: AbortSignal,
): Promise<'done' | 'overtaken'> {
  const { metrics, log } = parts;
  const stopTimer = metrics.reviewSeconds.startTimer();
  try {
    const review = await openReview(parts, ref, signal);
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const outcome = await reviewOnce(parts, review, ref);
      if (outcome !== 'outdated') {
        if (outcome !== 'over' && outcome !== 'archived') {
          metrics.reviews.inc({ verdict: outcome });
        }
        if (outcome !== 'over' && outcome !== 'archived' && outcome !== 'none') {
          stopTimer();
          metrics.webhookToStatusSeconds.observe((Date.now() - askedAt.getTime()) / 1_000);
        }
        return 'done';
      }
    }
  } catch (error) {
    if (!(error instanceof LostClaimError)) {
      throw error;
    }
    log.info({ ...ref }, 'a review ends early: a newer one has begun');
    return 'overtaken';
  }
  throw new ForgeError('unavailable', `${ref.repository}#${ref.number} kept changing while it was reviewed`);
}

/** A review under way: its claim, and a forge that writes only as long as it holds the claim. */
interface OpenReview {
  readonly status: StatusParts;
  writes(): number;
  /** Whether there is a verdict from before, or a review that was cut short. */
  readonly hasSpoken: boolean;
  claim(): Claim;
  /** Records what is under review, and updates the status that showed the verdict before. */
  enter(pullRequest: PullRequest): Promise<void>;
  /** The pull request is closed or gone. */
  leave(): Promise<void>;
  /** Nothing can be written. What is known is kept: pull requests that share a head need it when that changes. */
  leaveUnchanged(): Promise<void>;
}

async function openReview(parts: ReviewParts, ref: PullRequestRef, signal: AbortSignal): Promise<OpenReview> {
  // A job that the engine has taken back must not take the claim from the one that has it now.
  signal.throwIfAborted();
  const { pool, statusContext: template } = parts;
  let { claim, before } = await beginReview(pool, ref);
  const guard = guardWrites(parts.forge, async () => {
    signal.throwIfAborted();
    await requireClaim(pool, claim);
  });
  const status: StatusParts = { forge: guard.forge, pool, statusContext: template };
  const placeOf = ({ headSha, baseBranch, reportedAs }: ReportedStatus) => ({
    repository: claim.repository,
    headSha,
    context: reportedAs ?? statusContext(template, baseBranch ?? ''),
  });

  return {
    status,
    hasSpoken: before !== undefined && (before.verdict !== 'none' || before.reportedAs === null),
    writes: guard.writes,
    claim: () => claim,
    async enter(pullRequest) {
      if (pullRequest.repository !== claim.repository) {
        await moveRepository(pool, claim.repository, pullRequest.repository);
        ({ claim, before } = await beginReview(pool, pullRequest));
      }
      const context = statusContext(template, pullRequest.base.branch);
      await recordHead(pool, claim, pullRequest, context);
      const last = before && placeOf(before);
      before = undefined;
      if (last === undefined || (last.headSha === pullRequest.head.sha && last.context === context)) {
        return;
      }
      const others = await reportStatus(status, last, true);
      if (!others && last.headSha === pullRequest.head.sha) {
        await withdrawSuccess(guard.forge, last);
      }
    },
    async leave() {
      if (before !== undefined) {
        await markClosed(pool, claim);
        await reportStatus(status, placeOf(before), true);
      }
      await deleteReview(pool, claim);
    },
    async leaveUnchanged() {
      if (before === undefined) {
        await deleteReview(pool, claim);
      }
    },
  };
}

type Outcome = 'over' | 'archived' | 'outdated' | 'none' | Verdict['state'];

async function reviewOnce(
  { forge, threads, pool, fallback, statusContext: template, log }: ReviewParts,
  review: OpenReview,
  ref: PullRequestRef,
): Promise<Outcome> {
  const place = ({ repository, head, base }: PullRequest) => ({
    repository,
    headSha: head.sha,
    context: statusContext(template, base.branch),
  });
  const result = await judgeOnce(forge, ref, {
    threads,
    fallback,
    statusContext: template,
    onRead: (pullRequest) => review.enter(pullRequest),
    onWillJudge: async (pullRequest) => {
      await reportStatus(review.status, place(pullRequest), false);
    },
    onWillReadChecks: () => recordChecksAsked(pool, review.claim()),
  });
  if (result.kind === 'over') {
    await review.leave();
    log.info({ ...ref }, 'nothing to review: the pull request is closed or gone');
    return 'over';
  }
  if (result.kind === 'archived') {
    await review.leaveUnchanged();
    log.info({ ...ref }, 'nothing to review: the repository is archived');
    return 'archived';
  }
  const { pullRequest, sources } = result;
  const { context } = place(pullRequest);
  if (result.kind === 'no-policy') {
    if (review.hasSpoken) {
      for (const { what, error: err } of await withdrawComments(review.status.forge, pullRequest)) {
        log.warn({ err, ...ref }, `the forge refused to remove: ${what}`);
      }
    }
    await saveVerdict(pool, review.claim(), { state: 'none', description: 'No policy', url: pullRequest.url }, sources);
    await reportStatus(review.status, place(pullRequest), true);
    if (review.hasSpoken) {
      await releaseStatus(review.status, place(pullRequest));
    }
    await markReported(pool, review.claim(), context);
    log.info({ ...ref }, 'nothing to review: the base branch has no policy');
    return 'none';
  }
  const { verdict } = result;
  if (!(await isCurrent(forge, result))) {
    return 'outdated';
  }
  const writesBefore = review.writes();
  const { refusals, commentId } = await reportComments(review.status.forge, pullRequest, verdict, {
    comments: result.comments,
    links: linksOf(forge.name, pullRequest, sources),
  });
  for (const { what, error } of refusals) {
    log.warn({ err: error, ...ref, what }, 'the forge refused what was to be posted beside the status');
  }
  // Comments take their time, on GitHub a second each; a success must not be of what was there before them.
  if (verdict.state === 'success' && review.writes() > writesBefore && !(await isCurrent(forge, result))) {
    return 'outdated';
  }
  const description = withRefusals(verdict.description, refusals);
  const url = commentUrl(pullRequest, commentId);
  await saveVerdict(pool, review.claim(), { state: verdict.state, description, url }, sources);
  await reportStatus(review.status, place(pullRequest), true);
  await markReported(pool, review.claim(), context);
  log.info({ ...ref, head: pullRequest.head.sha, verdict: verdict.state }, 'a pull request was reviewed');
  return verdict.state;
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

/**
 * After the last attempt: the status says error and why, as far as the forge will still take it. The head
 * then counts as one without a verdict, so that a resync comes back to it.
 */
export async function reportGivenUp(
  parts: ReviewParts,
  ref: PullRequestRef,
  error: unknown,
  signal: AbortSignal,
): Promise<void> {
  const { forge, pool, log } = parts;
  try {
    const review = await openReview(parts, ref, signal);
    // Before the forge is asked, which may not answer.
    await markReported(pool, review.claim(), null);
    const pullRequest = await forge.pullRequest(ref);
    if (pullRequest === undefined || pullRequest.state === 'closed') {
      await review.leave();
      return;
    }
    if (pullRequest.archived) {
      await review.leaveUnchanged();
      return;
    }
    await review.enter(pullRequest);
    await saveVerdict(pool, review.claim(), {
      state: 'error',
      description: givenUpBecause(error),
      url: pullRequest.url,
    });
    const context = statusContext(parts.statusContext, pullRequest.base.branch);
    await reportStatus(
      review.status,
      { repository: pullRequest.repository, headSha: pullRequest.head.sha, context },
      true,
    );
    await markReported(pool, review.claim(), context);
  } catch (err) {
    const what = err instanceof ForgeError ? { reason: err.message } : { err };
    log.warn({ ...what, ...ref }, 'could not set the status to error');
  }
}
