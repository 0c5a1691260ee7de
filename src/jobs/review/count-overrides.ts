import type { PullRequest } from '../../forges/port/pull-request.ts';
import type { Log } from '../../log.ts';
import type { Metrics } from '../../metrics.ts';
import type { Verdict } from '../../review/verdict.ts';
import type { OpenReview } from './open-review.ts';

/** Each override once, however often it is found. */
export function countOverrides(
  { metrics, log }: { readonly metrics: Metrics; readonly log: Log },
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
