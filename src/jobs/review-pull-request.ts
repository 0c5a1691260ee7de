import type pg from 'pg';
import { type Forge, ForgeError, type PullRequestRef } from '../forges/forge.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import { judge } from '../review/judge.ts';
import type { Policy } from '../review/policy/schema.ts';
import { report, reportPending, reportStatus } from '../review/report.ts';
import type { ReviewThreads } from '../review/threads/review-threads.ts';
import { forgetVerdict, saveVerdict } from './reviews-table.ts';

export interface ReviewParts {
  readonly forge: Forge;
  /** What parses and evaluates what people wrote. */
  readonly threads: ReviewThreads;
  readonly pool: pg.Pool;
  /** The operator's policy, for repositories that have none of their own. */
  readonly fallback: Policy | undefined;
  readonly metrics: Metrics;
  readonly log: Log;
}

/**
 * Brings the review of a pull request up to date with its present state, whatever has happened to it and
 * however often. May be cut short anywhere: the next run completes what is missing and repeats nothing.
 * `askedAt` is when the delivery that requested it was committed.
 */
export async function reviewPullRequest(parts: ReviewParts, ref: PullRequestRef, askedAt: Date): Promise<void> {
  const { forge, threads, pool, fallback, metrics, log } = parts;
  const { repository, number } = ref;
  const stopTimer = metrics.reviewSeconds.startTimer();
  const result = await judge(forge, ref, {
    threads,
    fallback,
    onWillJudge: (pullRequest) => reportPending(forge, pullRequest),
  });
  switch (result.kind) {
    case 'over':
      await forgetVerdict(pool, ref);
      log.info({ repository, number }, 'nothing to review: the pull request is closed or gone');
      return;
    case 'no-policy':
      await saveVerdict(pool, result.pullRequest, { state: 'none', description: 'No policy' });
      metrics.reviews.inc({ verdict: 'none' });
      log.info({ repository, number }, 'nothing to review: the base branch has no policy');
      return;
    case 'judged': {
      const { pullRequest, verdict } = result;
      for (const { what, error } of await report(forge, pullRequest, verdict)) {
        log.warn({ err: error, repository, number, what }, 'the forge refused what was to be posted beside the status');
      }
      await saveVerdict(pool, pullRequest, verdict);
      stopTimer();
      metrics.reviews.inc({ verdict: verdict.state });
      metrics.webhookToStatusSeconds.observe((Date.now() - askedAt.getTime()) / 1_000);
      log.info(
        { repository, number, head: pullRequest.head.sha, verdict: verdict.state },
        'a pull request was reviewed',
      );
    }
  }
}

const GIVEN_UP: Readonly<Record<ForgeError['kind'], string>> = {
  unavailable: 'the forge gave no usable answer',
  'rate-limited': 'the rate limit of the forge was reached',
  refused: 'Gatehouse’s credentials have no permission',
  invalid: 'the forge rejected a request',
};

/**
 * After the last attempt: the status says error and why, as far as the forge will still take it. The head
 * then counts as one without a verdict, so that a resync comes back to it.
 */
export async function reportGivenUp(
  { forge, pool, log }: ReviewParts,
  ref: PullRequestRef,
  error: unknown,
): Promise<void> {
  const reason = error instanceof ForgeError ? GIVEN_UP[error.kind] : 'an internal error, see the log of Gatehouse';
  try {
    await forgetVerdict(pool, ref);
    const pullRequest = await forge.pullRequest(ref);
    if (pullRequest === undefined || pullRequest.state === 'closed') {
      return;
    }
    const description = `Could not be reviewed: ${reason}`;
    await reportStatus(forge, pullRequest, { state: 'error', description });
  } catch (err) {
    log.warn({ err, ...ref }, 'could not set the status to error');
  }
}
