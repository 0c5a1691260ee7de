import type { Queue } from 'pg-boss';

/** The PostgreSQL schema that the job engine keeps to itself. */
export const JOBS_SCHEMA = 'gatehouse_jobs';

export const REVIEW_QUEUE = 'review';
const REVIEW_DEAD_LETTERS = 'review-dead-letters';

/** What a review job carries: which pull request to look at, and nothing of what happened to it. */
export interface ReviewJob {
  readonly repository: string;
  readonly pullRequest: number;
}

const DAY_SECONDS = 24 * 60 * 60;

/** In this order, since a queue's dead letters must have somewhere to go. */
export const QUEUES: readonly (Queue & { readonly name: string })[] = [
  { name: REVIEW_DEAD_LETTERS, retentionSeconds: 14 * DAY_SECONDS },
  {
    name: REVIEW_QUEUE,
    // At most one waiting and one active job per key.
    policy: 'stately',
    deadLetter: REVIEW_DEAD_LETTERS,
    retryLimit: 5,
    retryDelay: 5,
    retryBackoff: true,
    heartbeatSeconds: 30,
    retentionSeconds: 14 * DAY_SECONDS,
    // Finished jobs say nothing that the deliveries and reviews do not say.
    deleteAfterSeconds: DAY_SECONDS,
  },
];

/** A pull request's jobs share a key, so that a burst of events becomes one review of its last state. */
export function reviewKey(job: ReviewJob): string {
  return `${job.repository}#${job.pullRequest}`;
}
