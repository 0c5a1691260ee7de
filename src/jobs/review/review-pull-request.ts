import { ForgeError } from '../../forges/port/forge-error.ts';
import type { PreloadedFacts, PullRequest, PullRequestRef } from '../../forges/port/pull-request.ts';
import { type JudgeContext, judgeOnce, type ReviewResult } from '../../review/judge.ts';
import { gatehouseDigest, isCurrent } from '../../review/judged-by.ts';
import { pathsAtBase } from '../../review/policy/paths.ts';
import { hasComments, withOwnComments } from '../../review/posted-comments.ts';
import { commentUrl, linksOf } from '../../review/rendering/links.ts';
import { type Reported, reportComments, withdrawComments, withRefusals } from '../../review/report.ts';
import { notEnforced, type Verdict } from '../../review/verdict.ts';
import { build } from '../../version.ts';
import { NotFoundYetError } from '../attempt.ts';
import { LostClaimError } from '../tables/claim.ts';
import { makersIn } from '../tables/makers.ts';
import { recordedComments } from '../tables/override-comments.ts';
import { markGoverned } from '../tables/repositories.ts';
import { recordAsked } from '../tables/reviews.ts';
import { countObserved } from './count-observed.ts';
import { JudgedTooOftenError } from './judging-limit.ts';
import { type OpenReview, openReview } from './open-review.ts';
import { leaveClosed } from './record-merge.ts';
import type { ReviewDeps } from './review-deps.ts';
import { saveAndRecord } from './save-and-record.ts';

/** When the delivery that requested a review was committed. */
interface Asked {
  /** By the clock of the database. */
  readonly at: Date;
  /** By a monotonic clock, which nobody can set. */
  readonly secondsAgo: () => number;
  /** Whether the job is not tried again. */
  readonly isLastAttempt: boolean;
}

/** A pull request that changes while it is reviewed is reviewed again, this many times at most. */
const MAX_ATTEMPTS = 3;

/**
 * Brings the review of a pull request up to date with its present state, whatever has happened to it and
 * however often. May be cut short anywhere: the next run completes what is missing and repeats nothing.
 * Returns `overtaken` when a newer review took the claim: that one may still be cut short itself.
 * After `signal` nothing more is written.
 */
export async function reviewPullRequest(
  deps: ReviewDeps,
  ref: PullRequestRef,
  asked: Asked,
  signal: AbortSignal,
): Promise<'done' | 'overtaken'> {
  const { metrics, log } = deps;
  const stopTimer = metrics.reviewSeconds.startTimer();
  const review = await openReview(deps, ref, signal);

  async function attempts(): Promise<'done' | 'outdated'> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const outcome = await reviewOnce(deps, review, ref, asked);
      if (outcome !== 'outdated') {
        if (outcome !== 'over' && outcome !== 'archived') {
          metrics.reviews.inc({ verdict: outcome });
        }
        if (outcome !== 'over' && outcome !== 'archived' && outcome !== 'none') {
          stopTimer();
          metrics.webhookToStatusSeconds.observe(asked.secondsAgo());
        }
        return 'done';
      }
    }
    return 'outdated';
  }

  try {
    if ((await attempts()) === 'done') {
      return 'done';
    }
  } catch (error) {
    if (review.isGoverned) {
      // For the report, once it is given up. A verdict is saved together with it.
      await markGoverned(deps.pool, review.claim().repository);
    }
    const reason = error instanceof LostClaimError ? error : await leaveWaiting(deps, review, ref, error);
    if (!(reason instanceof LostClaimError)) {
      throw reason;
    }
    log.info({ ...ref }, 'a review ends early: a newer one has begun');
    return 'overtaken';
  }
  throw new ForgeError('unavailable', `${ref.repository}#${ref.number} kept changing while it was reviewed`);
}

/** A job that waits for no longer may leave a success standing that may not hold any more. */
const SHORT_WAIT_MS = 30_000;

/** Before its job waits for a limit. Returns what it waits for: a success that still stands is tried again sooner. */
async function leaveWaiting(
  { log }: ReviewDeps,
  review: OpenReview,
  ref: PullRequestRef,
  error: unknown,
): Promise<unknown> {
  const { retryAt = 0 } = error instanceof ForgeError ? error : {};
  if (retryAt - Date.now() <= SHORT_WAIT_MS) {
    return error;
  }
  const time = new Date(retryAt).toISOString().slice(11, 16);
  const why = error instanceof JudgedTooOftenError ? error.message : 'the rate limit of the forge is used up';
  try {
    await review.leaveWaiting(`Waits until ${time} UTC: ${why}`);
    return error;
  } catch (err) {
    log.warn({ err, ...ref }, 'a success could not be withdrawn before its review waits');
    const isPassing = !(err instanceof ForgeError) || err.kind === 'unavailable' || (err.retryAt ?? retryAt) < retryAt;
    return isPassing ? err : error;
  }
}

type Outcome = 'over' | 'archived' | 'outdated' | 'none' | Verdict['state'];

async function reviewOnce(
  deps: ReviewDeps,
  review: OpenReview,
  ref: PullRequestRef,
  { at: askedAt, isLastAttempt }: Asked,
): Promise<Outcome> {
  const read = await deps.forge.pullRequestWithFacts(ref, pathsAtBase(deps.forge.name));
  if (read === undefined && !isLastAttempt) {
    throw new NotFoundYetError('the pull request was not found; looking again later');
  }
  if (read?.pullRequest.state !== 'open') {
    return await endReview(deps, review, ref, read?.pullRequest);
  }
  const { pullRequest } = read;
  if (pullRequest.archived) {
    return await leaveArchived(deps, review, ref);
  }
  const stored = await review.enter({ ...read, statuses: read.preloaded.statuses });
  const preloaded =
    stored === undefined
      ? read.preloaded
      : await withOwnComments(deps.forge, read, review.hasNoComments(), review.commentId);
  if (stored !== undefined && hasComments(deps.forge.name, stored, preloaded)) {
    await review.publish({ isUnchanged: true });
    deps.log.info({ ...ref }, 'nothing to review: nothing has changed since the verdict');
    return 'over';
  }
  deps.judgingLimit.count(pullRequest);
  const context: JudgeContext = {
    ...deps,
    onWillJudge: async (_, policy) => {
      // What anybody proposes is not in force.
      review.isGoverned ||= policy === 'in-force';
      await review.publishPending();
    },
    onWillAsk: (facts) => recordAsked(deps.pool, review.claim(), facts),
    recordedComments: (repository, commentIds) => recordedComments(deps.pool, repository, commentIds),
    makers: makersIn(deps.pool),
  };
  const result = await judgeOnce(context, { ...read, preloaded });
  switch (result.kind) {
    case 'over':
      return await endReview(deps, review, ref, pullRequest);
    case 'archived':
      return await leaveArchived(deps, review, ref);
    case 'no-policy':
      return await releasePullRequest(deps, review, result, askedAt);
    case 'judged':
      return report(deps, review, result, preloaded, askedAt);
  }
}

async function endReview(
  deps: ReviewDeps,
  review: OpenReview,
  ref: PullRequestRef,
  pullRequest: PullRequest | undefined,
): Promise<Outcome> {
  if (pullRequest?.state === 'merged') {
    review.settle();
  }
  await leaveClosed(deps, review, pullRequest);
  const why = pullRequest === undefined ? 'does not exist, or Gatehouse’s account cannot see it' : 'is closed';
  deps.log.info({ ...ref }, `nothing to review: the pull request ${why}`);
  return 'over';
}

async function leaveArchived({ log }: ReviewDeps, review: OpenReview, ref: PullRequestRef): Promise<Outcome> {
  await review.leaveUnchanged();
  log.info({ ...ref }, 'nothing to review: the repository is archived');
  return 'archived';
}

async function releasePullRequest(
  deps: ReviewDeps,
  review: OpenReview,
  result: Extract<ReviewResult, { kind: 'no-policy' }>,
  askedAt: Date,
): Promise<Outcome> {
  const { log } = deps;
  const { pullRequest } = result;
  const { repository, number, url } = pullRequest;
  const hasSpoken = review.hasSpoken();
  // The policy may be back. Where nothing was posted before, nothing is released.
  if (hasSpoken && !(await isCurrent(deps, result))) {
    return 'outdated';
  }
  const verdict = { state: 'none', description: 'No policy', url } as const;
  await saveAndRecord(deps, review.claim(), pullRequest, { ...verdict, result, askedAt });
  await review.publish();
  if (hasSpoken) {
    for (const { what, error: err } of await withdrawComments(review.forge, pullRequest, review.commentId)) {
      log.warn({ err, repository, number }, `the forge refused to remove: ${what}`);
    }
    await review.withdrewComments();
  }
  log.info({ repository, number }, 'nothing to review: the base branch has no policy');
  return 'none';
}

type Judged = Extract<ReviewResult, { kind: 'judged' }>;

/** Writes what has been judged, as long as it is still so. */
async function report(
  deps: ReviewDeps,
  review: OpenReview,
  result: Judged,
  preloaded: PreloadedFacts,
  askedAt: Date,
): Promise<Outcome> {
  const { forge, enforce, log } = deps;
  const { pullRequest, verdict, judgedBy } = result;
  const { repository, number } = pullRequest;
  if (!(await isCurrent(deps, result))) {
    return 'outdated';
  }
  const writesBefore = review.writes();
  const options = {
    isUsedUp: await review.isFull(verdict.state),
    comments: result.comments,
    links: linksOf(forge.name, pullRequest, judgedBy),
    hasNone: review.hasNoComments(),
    commentId: review.commentId,
    enforce,
    preloaded,
  };
  const comments = await reportComments(review.forge, pullRequest, verdict, options);
  if (comments.foundNone) {
    await review.foundNoComments();
  }
  for (const { what, error } of comments.refusals) {
    log.warn({ err: error, repository, number, what }, 'the forge refused a comment of the review');
  }
  // Comments take their time, on GitHub a second each; a success must not be of what was there before them.
  const tookTime = review.writes() > writesBefore || comments.failure !== undefined;
  if (verdict.state === 'success' && tookTime && !(await isCurrent(deps, result))) {
    return 'outdated';
  }
  await saveAndShow(deps, review, result, comments, askedAt);
  if (comments.failure !== undefined) {
    // The job comes back for the comments.
    throw comments.failure;
  }
  return verdict.state;
}

/** Saves the verdict, and then shows it as the commit's status: never the other way around. */
async function saveAndShow(
  deps: ReviewDeps,
  review: OpenReview,
  result: Judged,
  comments: Reported,
  askedAt: Date,
): Promise<void> {
  const { enforce, metrics, log } = deps;
  const { pullRequest, verdict, selfContained } = result;
  const { repository, number, head, differenceBase } = pullRequest;
  const canStand = selfContained && verdict.state !== 'error';
  const alone =
    canStand && comments.digest !== undefined && differenceBase !== undefined
      ? { differenceBase, gatehouse: gatehouseDigest(deps, build), comments: comments.digest }
      : undefined;
  await saveAndRecord(deps, review.claim(), pullRequest, {
    state: verdict.state,
    description: withRefusals(verdict.description, comments.refusals),
    dryRun: withRefusals(notEnforced(verdict), comments.refusals),
    url: commentUrl(pullRequest, comments.commentId),
    commentId: comments.commentId,
    result,
    alone,
    askedAt,
  });
  countOverrides(deps, review, pullRequest, verdict);
  countObserved(metrics, result.evaluation);
  await review.publish();
  log.info({ repository, number, head: head.sha, verdict: verdict.state, enforce }, 'a pull request was reviewed');
}

/** Each override once, however often it is found. */
function countOverrides(
  { metrics, log }: Pick<ReviewDeps, 'metrics' | 'log'>,
  { overridesBefore }: Pick<OpenReview, 'overridesBefore'>,
  { repository, number, head }: PullRequest,
  { overrides }: Verdict,
): void {
  for (const { ruleId, by, reason, commentId } of overrides?.inForce ?? []) {
    if (!overridesBefore.includes(commentId)) {
      metrics.overrides.inc();
      log.warn({ repository, number, head: head.sha, rule: ruleId, by, reason, commentId }, 'a rule was overridden');
    }
  }
}
