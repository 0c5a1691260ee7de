import { ForgeError } from '../../forges/port/forge-error.ts';
import type { PreloadedFacts, PullRequest, PullRequestRead, PullRequestRef } from '../../forges/port/pull-request.ts';
import { inputsDigest, isCurrent } from '../../review/inputs.ts';
import { type Concluded, type JudgeContext, judgeBy } from '../../review/judge.ts';
import { pathsAtBase } from '../../review/policy/paths.ts';
import { commentIdIn, commentUrl, linksOf } from '../../review/rendering/links.ts';
import {
  type LeftComment,
  type Reported,
  reportComments,
  withdrawComments,
  withRefusals,
} from '../../review/report.ts';
import { rulesOf } from '../../review/rules-of.ts';
import { notEnforced, type Verdict } from '../../review/verdict.ts';
import { build } from '../../version.ts';
import { NotFoundYetError } from '../attempt.ts';
import { LostClaimError } from '../tables/claim.ts';
import { makersIn } from '../tables/makers.ts';
import { recordedComments } from '../tables/override-comments.ts';
import { markGoverned, moveRepository } from '../tables/repositories.ts';
import { markLookedAt, type ReviewBefore, recordAsked, recordHead } from '../tables/reviews.ts';
import { countObserved } from './count-observed.ts';
import { countReplaced, countStale } from './count-stale.ts';
import { JudgedTooOftenError } from './judging-limit.ts';
import { leaveArchived, leaveClosed, leaveWaiting } from './leave.ts';
import type { ReviewDeps } from './review-deps.ts';
import { saveAndRecord } from './save-and-record.ts';
import { begin, type Entered, enter, isAsBefore, type UnderWay } from './under-way.ts';

/** When the delivery that requested a review was committed. */
interface Asked {
  /** By the clock of the database. */
  readonly at: Date;
  /** By a monotonic clock, which nobody can set. */
  readonly secondsAgo: () => number;
  /** Whether it was tried before: what that has written may still be carried out. */
  readonly isRetry: boolean;
  /** Whether the job is not tried again. */
  readonly isLastAttempt: boolean;
  /** Whether nothing tells that anything has changed. */
  readonly isTurn: boolean;
}

/** A pull request that changes while it is reviewed is reviewed again, this many times at most. */
const MAX_ATTEMPTS = 3;

/** How an attempt has ended. */
type Outcome =
  /** There was nothing to review, or nothing that was not known. */
  | 'over'
  /** It is another by now than was judged, or has another name. */
  | { readonly outdated: PullRequestRef }
  /** `failure`: why comments are missing. */
  | { readonly verdict: 'none' | Verdict['state']; readonly failure?: ForgeError | undefined };

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

  function conclude({ verdict, failure }: Extract<Outcome, { readonly verdict: unknown }>): 'done' {
    // The job comes back for the comments. Where no policy asks for a verdict, it is not given up over them.
    if (failure !== undefined && !(verdict === 'none' && asked.isLastAttempt)) {
      throw failure;
    }
    metrics.reviews.inc({ verdict });
    if (verdict !== 'none') {
      stopTimer();
      if (!asked.isTurn) {
        metrics.webhookToStatusSeconds.observe(asked.secondsAgo());
      }
    }
    return 'done';
  }

  let now = ref;
  try {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const tried = { ...asked, isRetry: asked.isRetry || attempt > 0 };
      const outcome = await reviewOnce(deps, now, tried, signal);
      if (outcome === 'over') {
        return 'done';
      }
      if ('verdict' in outcome) {
        return conclude(outcome);
      }
      const { repository, number } = outcome.outdated;
      now = { repository, number };
    }
  } catch (error) {
    if (!(error instanceof LostClaimError)) {
      throw error;
    }
    log.info({ ...now }, 'a review ends early: a newer one has begun');
    return 'overtaken';
  }
  throw new ForgeError('unavailable', `${now.repository}#${now.number} kept changing while it was reviewed`);
}

async function reviewOnce(deps: ReviewDeps, ref: PullRequestRef, asked: Asked, signal: AbortSignal): Promise<Outcome> {
  const { log } = deps;
  const underWay = await begin(deps, ref, signal);
  let read: PullRequestRead | undefined;
  let entered: Entered | undefined;
  try {
    read = await deps.forge.pullRequestWithFacts(ref, pathsAtBase(deps.forge.name));
    if (asked.isTurn && !isAsBefore(underWay.before, read)) {
      throw new Error('it has changed since it was judged');
    }
    if (read === undefined && !asked.isLastAttempt) {
      throw new NotFoundYetError('the pull request was not found; looking again later');
    }
    if (read?.pullRequest.state === 'open') {
      const { repository, number, baseCommit, archived } = read.pullRequest;
      if (repository !== ref.repository) {
        await moveRepository(deps.pool, ref.repository, repository);
        return { outdated: { repository, number } };
      }
      if (archived) {
        await leaveArchived(deps, underWay);
        log.info({ ...ref }, 'nothing to review: the repository is archived');
        return 'over';
      }
      entered = await enter(deps, underWay, read);
      if (baseCommit !== undefined) {
        const onReplaced = asked.isTurn ? () => countReplaced(deps, underWay.claim) : undefined;
        return await reviewOpen(deps, { ...underWay, ...entered, asked, onReplaced }, read, baseCommit);
      }
    }
    // A merged one may keep its success, whatever its record waits for.
    if (read?.pullRequest.state !== 'merged') {
      const left = entered === undefined ? underWay : { ...underWay, placeBefore: entered.place };
      return await endReview(deps, left, read?.pullRequest);
    }
  } catch (error) {
    throw asked.isTurn ? error : await waiting(deps, underWay, entered, error);
  }
  return endReview(deps, underWay, read?.pullRequest);
}

async function endReview(deps: ReviewDeps, underWay: UnderWay, pullRequest: PullRequest | undefined): Promise<Outcome> {
  await leaveClosed(deps, underWay, pullRequest);
  const { repository, number } = underWay.claim;
  deps.log.info({ repository, number }, `nothing to review: the pull request ${whyOver(pullRequest)}`);
  return 'over';
}

function whyOver(pullRequest: PullRequest | undefined): string {
  if (pullRequest === undefined) {
    return 'does not exist, or Gatehouse’s account cannot see it';
  }
  return pullRequest.state === 'open' ? 'has lost its base branch' : 'is closed';
}

/** A job that waits for no longer may leave a success standing that may not hold any more. */
const SHORT_WAIT_MS = 30_000;

/** Before its job waits for a limit. Returns what it waits for: a success that still stands is tried again sooner. */
async function waiting(
  deps: ReviewDeps,
  underWay: UnderWay,
  entered: Entered | undefined,
  error: unknown,
): Promise<unknown> {
  const { retryAt = 0 } = error instanceof ForgeError ? error : {};
  if (retryAt - Date.now() <= SHORT_WAIT_MS) {
    return error;
  }
  const time = new Date(retryAt).toISOString().slice(11, 16);
  const why = error instanceof JudgedTooOftenError ? error.message : 'the rate limit of the forge is used up';
  try {
    await leaveWaiting(deps, underWay, entered, `Waits until ${time} UTC: ${why}`);
    return error;
  } catch (err) {
    const { repository, number } = underWay.claim;
    deps.log.warn({ err, repository, number }, 'a success could not be withdrawn before its review waits');
    const isPassing = !(err instanceof ForgeError) || err.kind === 'unavailable' || (err.retryAt ?? retryAt) < retryAt;
    return isPassing ? err : error;
  }
}

/** A review of an open pull request. */
interface Review extends UnderWay, Entered {
  readonly asked: Asked;
  readonly onReplaced: (() => Promise<void>) | undefined;
}

async function reviewOpen(deps: ReviewDeps, review: Review, read: PullRequestRead, commit: string): Promise<Outcome> {
  const { pool, log } = deps;
  const { claim, before, place, seen, publisher } = review;
  const { pullRequest } = read;
  const { repository, number } = pullRequest;
  const rules = await rulesOf(deps, { repository, commit });
  const inputs = inputsDigest({ pullRequest, rules: rules.sources }, { ...build, ...deps });
  // Where the commit takes no more statuses, a new comment says so.
  const mayStand = review.keepsVerdict && !review.asked.isRetry && review.row?.takes !== 'nothing';
  if (mayStand && inputs !== undefined && before?.inputs === inputs) {
    await publisher.publish(place, { seen, onReplaced: review.onReplaced });
    if (review.asked.isTurn) {
      await markLookedAt(pool, claim);
    }
    log.info({ repository, number }, 'nothing to review: nothing has changed since the verdict');
    return 'over';
  }
  if (!review.asked.isTurn) {
    deps.judgingLimit.count(pullRequest);
  }
  let { row } = review;
  const context: JudgeContext = {
    ...deps,
    onWillJudge: async () => {
      if (before?.verdict === 'none') {
        // From now on there may be comments of ours.
        await recordHead(pool, claim, pullRequest, { settled: read.settled === 'yes', keepsVerdict: false });
      }
      // What is stored is shown, unless that is a success.
      row = await publisher.publish(place, { seen, withoutSuccess: true, onReplaced: review.onReplaced });
    },
    onWillAsk: (facts) => recordAsked(pool, claim, facts),
    recordedComments: (of, commentIds) => recordedComments(pool, of, commentIds),
    makers: makersIn(pool),
  };
  try {
    const result = await judgeBy(context, read, rules);
    return result.kind === 'judged'
      ? await report(deps, { ...review, row }, { ...result, inputs }, read.preloaded)
      : await release(deps, review, result);
  } catch (error) {
    if (rules.policy.kind !== 'absent') {
      // For the report, once it is given up. A verdict is saved together with it.
      await markGoverned(pool, repository);
    }
    throw error;
  }
}

/** No policy asks anything of it any more. */
async function release(
  deps: ReviewDeps,
  review: Review,
  result: Extract<Concluded, { kind: 'no-policy' }>,
): Promise<Outcome> {
  const { log } = deps;
  const { claim, before, place, row, seen, asked } = review;
  const { pullRequest } = result;
  const { repository, number } = pullRequest;
  let withdrawn: Reported = { refusals: [] };
  // Where nothing was posted before, nothing is released.
  if (before !== undefined && (before.verdict !== 'none' || before.rules === null)) {
    if (!(await isCurrent(deps, result))) {
      // The policy is back.
      return { outdated: pullRequest };
    }
    withdrawn = await withdrawComments(review.forge, pullRequest, leftBy(before));
    logRefusals(log, pullRequest, withdrawn);
  }
  const { failure, commentId } = withdrawn;
  await saveAndRecord(deps, claim, pullRequest, {
    state: 'none',
    description: 'No policy',
    url: commentUrl(pullRequest, commentId),
    // The resync comes back for the comments.
    result: failure === undefined ? result : undefined,
    askedAt: asked.at,
  });
  await review.publisher.publish(place, row === undefined ? { seen } : {});
  log.info({ repository, number }, 'nothing to review: the base branch has no policy');
  return { verdict: 'none', failure };
}

type Judged = Extract<Concluded, { kind: 'judged' }> & { readonly inputs: string | undefined };

/** Writes what has been judged, as long as it is still so. */
async function report(deps: ReviewDeps, review: Review, result: Judged, preloaded: PreloadedFacts): Promise<Outcome> {
  const { forge, enforce, log } = deps;
  const { pullRequest, verdict, rules } = result;
  if (!(await isCurrent(deps, result))) {
    return { outdated: pullRequest };
  }
  if (review.asked.isTurn) {
    await countStale(deps, review, { state: verdict.state, rules });
  }
  const writesBefore = review.writes();
  const options = {
    isUsedUp: await review.publisher.isFull(review.place, verdict.state, review.row),
    comments: result.comments,
    links: linksOf(forge.name, pullRequest, rules),
    left: leftBy(review.before),
    isRetry: review.asked.isRetry,
    enforce,
    preloaded,
  };
  const comments = await reportComments(review.forge, pullRequest, verdict, options);
  logRefusals(log, pullRequest, comments);
  // Comments take their time, on GitHub a second each; a success must not be of what was there before them.
  const tookTime = review.writes() > writesBefore || comments.failure !== undefined;
  if (verdict.state === 'success' && tookTime && !(await isCurrent(deps, result))) {
    return { outdated: pullRequest };
  }
  await saveAndShow(deps, review, result, comments);
  return { verdict: verdict.state, failure: comments.failure };
}

/** A verdict that leads to no comment has none. */
function leftBy(before: ReviewBefore | undefined): LeftComment {
  const id = before && commentIdIn(before.url);
  return id === undefined && before?.rules != null ? 'none' : { id };
}

function logRefusals(log: ReviewDeps['log'], { repository, number }: PullRequestRef, { refusals }: Reported): void {
  for (const { what, error: err } of refusals) {
    log.warn({ err, repository, number, what }, 'the forge refused a comment of the review');
  }
}

/** Saves the verdict, and then shows it as the commit's status: never the other way around. */
async function saveAndShow(deps: ReviewDeps, review: Review, result: Judged, comments: Reported): Promise<void> {
  const { enforce, metrics, log } = deps;
  const { claim, before, place, row, seen, asked } = review;
  const { pullRequest, verdict, evaluation } = result;
  const { repository, number, head } = pullRequest;
  const { refusals, failure, commentId } = comments;
  const isCertain = refusals.length === 0 && failure === undefined && !asked.isRetry;
  await saveAndRecord(deps, claim, pullRequest, {
    state: verdict.state,
    description: withRefusals(verdict.description, refusals),
    dryRun: withRefusals(notEnforced(verdict), refusals),
    url: commentUrl(pullRequest, commentId),
    result,
    // What is undecided, or not certainly written as it should be, is judged again.
    inputs: result.isFixed && verdict.state !== 'error' && isCertain ? result.inputs : undefined,
    askedAt: asked.at,
  });
  countOverrides(deps, before?.overrides ?? [], pullRequest, verdict);
  countObserved(metrics, evaluation);
  // Unless nothing was published before it was judged, somebody may have set another one since.
  await review.publisher.publish(place, {
    isCounted: true,
    onReplaced: review.onReplaced,
    ...(row === undefined && { seen }),
  });
  log.info({ repository, number, head: head.sha, verdict: verdict.state, enforce }, 'a pull request was reviewed');
}

/** Each override once, however often it is found. */
function countOverrides(
  { metrics, log }: Pick<ReviewDeps, 'metrics' | 'log'>,
  before: readonly string[],
  { repository, number, head }: PullRequest,
  { overrides }: Verdict,
): void {
  for (const { ruleId, by, reason, commentId } of overrides?.inForce ?? []) {
    if (!before.includes(commentId)) {
      metrics.overrides.inc();
      log.warn({ repository, number, head: head.sha, rule: ruleId, by, reason, commentId }, 'a rule was overridden');
    }
  }
}
