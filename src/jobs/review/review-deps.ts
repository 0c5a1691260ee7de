import type { Log } from '../../log.ts';
import type { Metrics } from '../../metrics.ts';
import type { PolicyContext } from '../../review/policy/in-force.ts';
import type { ReviewWorkers } from '../../review/workers/review-workers.ts';
import type { PublisherDeps } from '../publisher/publisher.ts';
import type { JudgingLimit } from './judging-limit.ts';

/** What a review needs. */
export interface ReviewDeps extends PublisherDeps, PolicyContext {
  /** What parses and evaluates what people wrote. */
  readonly workers: ReviewWorkers;
  readonly judgingLimit: JudgingLimit;
  /** How long the record is kept. */
  readonly auditDays: number;
  readonly metrics: Metrics;
  readonly log: Log;
}
