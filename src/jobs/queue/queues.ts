import type { Queue } from 'pg-boss';
import type { CommentedCommand, MergeGroupRef, ReviewRequest, StatusSetBy } from '../../forges/port/events.ts';
import type { PullRequestRef } from '../../forges/port/pull-request.ts';

/** The PostgreSQL schema that the job engine keeps to itself. */
export const JOBS_SCHEMA = 'gatehouse_jobs';

export const REVIEW_QUEUE = 'review';
/** For the queues of reviews. No worker reads it: its jobs wait for an operator, or for a later success. */
export const REVIEW_DEAD_LETTERS = 'review-dead-letters';
/** All open pull requests of a repository, after its policy has changed. */
export const REPOSITORY_QUEUE = 'review-repository';
/** Pull requests with a head about which a check was reported. */
export const COMMIT_QUEUE = 'review-commit';
/** Groups of GitHub's merge queues. */
export const MERGE_GROUP_QUEUE = 'merge-group';
/** Commands in comments. */
export const COMMAND_QUEUE = 'command';
export const RESYNC_QUEUE = 'resync';
export const RETENTION_QUEUE = 'retention';

/** What a review job carries: which pull request to review, and nothing about the event. */
export type ReviewJob = PullRequestRef;

export interface RepositoryJob {
  readonly repository: string;
  /** Only pull requests into this branch. */
  readonly branch: string;
}

export interface CommitJob {
  readonly repository: string;
  readonly headSha: string;
  readonly ownName?: StatusSetBy;
}

export interface MergeGroupJob extends MergeGroupRef {
  readonly repository: string;
}

export type CommandJob = PullRequestRef & CommentedCommand;

/** A resync that has run for long goes on in another job, with the time at which the first of them was requested. */
export interface ResyncJob {
  readonly round?: string;
}

const DAY_SECONDS = 24 * 60 * 60;

const common = {
  // At most one waiting and one active job per key.
  policy: 'stately',
  retryLimit: 5,
  retryDelay: 5,
  retryBackoff: true,
  retryDelayMax: 300,
  /** A worker that was killed is noticed when its job has had no heartbeat for this long. */
  heartbeatSeconds: 15,
  expireInSeconds: 15 * 60,
  retentionSeconds: 14 * DAY_SECONDS,
  // Finished jobs say nothing that the deliveries and reviews do not say, and the engine reads all its jobs to count them.
  deleteAfterSeconds: 5 * 60,
} as const satisfies Omit<Queue, 'name'>;

/** In this order, since a queue's dead letters must have somewhere to go. */
export const QUEUES: readonly (Queue & { readonly name: string })[] = [
  { name: REVIEW_DEAD_LETTERS, retentionSeconds: 14 * DAY_SECONDS },
  { name: REVIEW_QUEUE, deadLetter: REVIEW_DEAD_LETTERS, ...common },
  { name: REPOSITORY_QUEUE, deadLetter: REVIEW_DEAD_LETTERS, ...common },
  { name: COMMIT_QUEUE, deadLetter: REVIEW_DEAD_LETTERS, ...common },
  { name: MERGE_GROUP_QUEUE, deadLetter: REVIEW_DEAD_LETTERS, ...common },
  // Without dead letters: the review that a command starts is found by a resync too, and somebody can post it again.
  { name: COMMAND_QUEUE, ...common },
  // A piece ends by itself after a minute and what it is at then. Its heartbeat tells when its worker is gone.
  { name: RESYNC_QUEUE, ...common, retryLimit: 1, expireInSeconds: 6 * 60 * 60 },
  { name: RETENTION_QUEUE, ...common, retryLimit: 1 },
];

/** A pull request's jobs share a key, so that a burst of events becomes one review of its last state. */
export function reviewKey(job: ReviewJob): string {
  return `${job.repository}#${job.number}`;
}

/**
 * What every job of such a key is put in with. Two of them never run at once by their singleton key; by their group
 * the engine also skips a job that would have to wait for another, instead of blocking those behind it.
 */
export function singletonOptions(key: string) {
  return { singletonKey: key, group: { id: key } } as const;
}

export function repositoryKey(job: RepositoryJob): string {
  return `${job.repository}@${job.branch}`;
}

/** A status under Gatehouse's name has a key by who set it: Gatehouse's own must not keep back that of somebody else. */
export function commitKey({ repository, headSha, ownName }: CommitJob): string {
  const by = ownName === undefined ? '' : `/${ownName.by.toLowerCase()}`;
  return `${repository}@${headSha}${by}`;
}

export function mergeGroupKey(job: MergeGroupJob): string {
  return `${job.repository}@${job.headSha}`;
}

/**
 * Each change of a command to override is recorded, whatever else is waiting. Of a recheck it matters who asks: one of
 * somebody who may not must not keep back that of somebody who may. Anything else is answered once, whoever asks.
 */
export function commandKey({ command, change, commentId, author, ...ref }: CommandJob): string {
  const which = { override: `${change}/${commentId}`, recheck: author.toLowerCase(), unknown: '' }[command];
  return `${reviewKey(ref)}/${command}/${which}`;
}

/** Which queue takes which request. */
export const REQUEST_QUEUES: Readonly<Record<ReviewRequest['kind'], string>> = {
  review: REVIEW_QUEUE,
  'review-repository': REPOSITORY_QUEUE,
  'review-commit': COMMIT_QUEUE,
  'review-merge-group': MERGE_GROUP_QUEUE,
  command: COMMAND_QUEUE,
};

export function requestKey(request: ReviewRequest): string {
  switch (request.kind) {
    case 'review':
      return reviewKey(request);
    case 'review-repository':
      return repositoryKey(request);
    case 'review-commit':
      return commitKey(request);
    case 'review-merge-group':
      return mergeGroupKey(request);
    case 'command':
      return commandKey(request);
  }
}
