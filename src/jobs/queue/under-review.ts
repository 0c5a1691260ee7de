import { JOBS_SCHEMA, type Kind } from './queue.ts';

const QUEUE: Kind = 'review';

/**
 * SQL: whether a review of the pull request in a row of the table `reviews` waits or runs, or only whether one runs.
 * Jobs are found by the engine's own index of these, by the key of {@link reviewKey}.
 */
export const isUnderReview = (row: string) => hasJob(row, "<= 'active'");
export const isReviewRunning = (row: string) => hasJob(row, "= 'active'");

const hasJob = (row: string, state: string) =>
  `EXISTS (SELECT FROM ${JOBS_SCHEMA}.job
            WHERE job.name = '${QUEUE}' AND coalesce(job.singleton_key, '') = ${row}.repository || '#' || ${row}.pull_request
              AND job.policy = 'stately' AND job.state <= 'active' AND job.state ${state})`;
