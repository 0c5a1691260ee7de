import type { Log } from '../../log.ts';
import type { Metrics } from '../../metrics.ts';

export interface ForeignStatusDeps {
  readonly metrics: Metrics;
  readonly log: Log;
}

/**
 * Somebody else set a status under Gatehouse's name on the head of a pull request. The review that follows sets
 * Gatehouse's again.
 */
export function reportForeignStatus(
  { metrics, log }: ForeignStatusDeps,
  place: { readonly repository: string; readonly headSha: string; readonly context: string },
  by: string,
): void {
  const { repository, headSha, context } = place;
  metrics.foreignStatuses.inc({ by: metrics.foreignStatusLogin(by) });
  log.warn({ repository, headSha, context, by }, 'somebody else set a status under the name of Gatehouse');
}
