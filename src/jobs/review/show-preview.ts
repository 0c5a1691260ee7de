import { hasSpareRequests } from '../../forges/limits/spending.ts';
import { ForgeError } from '../../forges/port/forge-error.ts';
import type { Verdict } from '../../review/evaluation/verdict.ts';
import type { ReviewResult } from '../../review/judge.ts';
import type { Impact } from '../../review/proposal/proposal.ts';
import { type ReportOptions, reportComments } from '../../review/report.ts';
import { readPreview, savePreview } from '../tables/previews.ts';
import type { OpenReview } from './open-review.ts';
import { previewPolicy } from './preview-policy.ts';
import type { ReviewParts } from './review-parts.ts';

type Judged = Extract<ReviewResult, { kind: 'judged' }>;

/**
 * The verdict with what the proposed policy would mean for others, if that is known. `isKnown`: or that nobody may ask.
 */
export async function withPreview(
  { pool }: Pick<ReviewParts, 'pool'>,
  { pullRequest, verdict, proposed }: Judged,
): Promise<{ readonly verdict: Verdict; readonly isKnown: boolean }> {
  const preview = proposed && (await readPreview(pool, pullRequest, proposed.digest));
  return {
    verdict: preview?.impact ? withImpact(verdict, preview.impact) : verdict,
    isKnown: proposed === undefined || preview !== undefined,
  };
}

/**
 * Finds out what a proposed policy would mean for other open pull requests, and adds it to the comment. After the
 * status, which does not wait for it: what fails here is tried again by the next review.
 */
export async function showPreview(
  parts: ReviewParts,
  review: OpenReview,
  { pullRequest, verdict, proposed }: Judged,
  options: ReportOptions,
  signal: AbortSignal,
): Promise<void> {
  if (proposed === undefined || !hasSpareRequests(parts.remainingRequests())) {
    return;
  }
  const { repository, number } = pullRequest;
  try {
    const impact = await previewPolicy(parts, pullRequest, proposed, signal);
    await savePreview(parts.pool, review.claim(), proposed.digest, impact ?? null);
    if (impact !== undefined) {
      // The report has changed our comments since they were read.
      const now = { ...options, hasNone: review.hasNoComments(), preloaded: {} };
      await reportComments(review.forge, pullRequest, withImpact(verdict, impact), now);
      parts.log.info(
        { repository, number, judged: impact.judged.length, leftOut: impact.leftOut },
        'a proposed policy was shown',
      );
    }
  } catch (error) {
    if (!(error instanceof ForgeError)) {
      throw error;
    }
    parts.log.warn({ reason: error.message, repository, number }, 'could not show what a proposed policy would mean');
  }
}

function withImpact(verdict: Verdict, impact: Impact): Verdict {
  return { ...verdict, proposal: { cases: { kind: 'none' }, ...verdict.proposal, impact } };
}
