import { hasSpareRequests } from '../../forges/limits/spending.ts';
import { ForgeError } from '../../forges/port/forge-error.ts';
import type { PullRequest } from '../../forges/port/pull-request.ts';
import type { ReviewResult } from '../../review/judge.ts';
import type { Impact, ReadProposal } from '../../review/proposal/proposal.ts';
import { runProposedCases } from '../../review/proposal/run-proposed-cases.ts';
import { type ReportOptions, reportComments } from '../../review/report.ts';
import type { Verdict } from '../../review/verdict.ts';
import { type Preview, readPreview, savePreview } from '../tables/previews.ts';
import type { OpenReview } from './open-review.ts';
import { previewPolicy } from './preview-policy.ts';
import type { ReviewDeps } from './review-deps.ts';

type Judged = Extract<ReviewResult, { kind: 'judged' }>;

/** The verdict with what is stored of the proposal. `isComplete`: nothing is left to find out. */
export async function withPreview(
  { pool }: Pick<ReviewDeps, 'pool'>,
  { pullRequest, verdict, proposed }: Judged,
): Promise<{ readonly verdict: Verdict; readonly isComplete: boolean }> {
  const preview = proposed && (await readPreview(pool, pullRequest, proposed.digest));
  return {
    verdict: withProposal(verdict, preview),
    isComplete: proposed === undefined || preview?.impact !== undefined,
  };
}

/**
 * Runs the cases of a proposal, finds out what its policy would mean for other open pull requests, and adds both to the
 * comment. After the status, which does not wait for it: anybody may propose what takes long.
 */
export async function showPreview(
  deps: ReviewDeps,
  review: OpenReview,
  { pullRequest, verdict, proposed }: Judged,
  options: ReportOptions,
  signal: AbortSignal,
): Promise<void> {
  if (proposed === undefined) {
    return;
  }
  const { pool, workers, log } = deps;
  const { repository, number } = pullRequest;
  const { digest } = proposed;
  const before = await readPreview(pool, pullRequest, digest);
  const cases = before?.cases ?? (await runProposedCases(workers, repository, proposed.cases));
  if (before === undefined) {
    await savePreview(pool, review.claim(), digest, { cases });
  }
  const impact = await findImpact(deps, pullRequest, proposed, signal);
  if (impact !== undefined) {
    await savePreview(pool, review.claim(), digest, { cases, impact });
  }
  const now = withProposal(verdict, { cases, ...(impact && { impact }) });
  if (now.proposal === undefined || (before !== undefined && !impact)) {
    return;
  }
  // The report has changed our comments since they were read.
  const { failure } = await reportComments(review.forge, pullRequest, now, {
    ...options,
    hasNone: review.hasNoComments(),
    preloaded: {},
  });
  if (failure !== undefined) {
    warnOf(failure, 'could not show what was found out about a proposal', deps, pullRequest);
    return;
  }
  log.info({ repository, number, judged: impact?.judged.length, leftOut: impact?.leftOut }, 'a proposal was shown');
}

/** Undefined where it cannot be known now: what fails here is tried again by the next review. */
async function findImpact(
  deps: ReviewDeps,
  pullRequest: PullRequest,
  { policy }: ReadProposal,
  signal: AbortSignal,
): Promise<Impact | null | undefined> {
  if (policy === undefined) {
    return null;
  }
  if (!hasSpareRequests(deps.remainingRequests())) {
    return undefined;
  }
  try {
    return (await previewPolicy(deps, pullRequest, policy, signal)) ?? null;
  } catch (error) {
    warnOf(error, 'could not find out what a proposed policy would mean', deps, pullRequest);
    return undefined;
  }
}

function warnOf(
  error: unknown,
  message: string,
  { log }: Pick<ReviewDeps, 'log'>,
  { repository, number }: PullRequest,
): void {
  if (!(error instanceof ForgeError)) {
    throw error;
  }
  log.warn({ reason: error.message, repository, number }, message);
}

function withProposal(verdict: Verdict, preview: Preview | undefined): Verdict {
  if (preview === undefined || (preview.cases.kind === 'none' && !preview.impact)) {
    return verdict;
  }
  const { cases, impact } = preview;
  return { ...verdict, proposal: { cases, ...(impact && { impact }) } };
}
