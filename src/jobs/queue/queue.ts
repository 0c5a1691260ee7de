import type { Queue as EngineQueue } from 'pg-boss';
import type { PullRequestRef } from '../../forges/port/pull-request.ts';
import type { ReviewRequest } from '../../forges/port/review-requests.ts';

/** The PostgreSQL schema that the job engine keeps to itself. */
export const JOBS_SCHEMA = 'gatehouse_jobs';

/** No worker reads this queue: its jobs wait for an operator, or for a later success. */
export const DEAD_LETTERS = 'review-dead-letters';

const DAY_SECONDS = 24 * 60 * 60;
export const RETENTION_SECONDS = 14 * DAY_SECONDS;

/** What the jobs of each queue carry: whom a delivery concerns, and nothing else about the event. */
export type Jobs = { readonly [Request in ReviewRequest as Request['kind']]: Omit<Request, 'kind'> } & {
  /** A resync that has run for long goes on in another job, with the time at which the first of them was requested. */
  readonly resync: { readonly round?: string };
  readonly retention: object;
};

/** The name of a queue, and the kind of its jobs. */
export type Kind = keyof Jobs;

/** A job that was taken, as the statement that takes it tells. */
export interface TakenJob<Data extends object> {
  readonly id: string;
  readonly name: string;
  readonly data: Data;
  /** How often it was taken before. */
  readonly retryCount: number;
  readonly retryLimit: number;
  readonly expireInSeconds: number;
  /** By the database's clock, as all times of a job. */
  readonly createdOn: Date;
  readonly startedOn: Date;
  /** Whether another job waited when this one was taken. */
  readonly othersWait: boolean;
  /** Whether an earlier job of its key was given up. */
  readonly hasDeadLetters: boolean;
}

export interface RunningJob<Data extends object> extends TakenJob<Data> {
  /** Aborted when the job must end, and when it is no longer this worker's. */
  readonly signal: AbortSignal;
}

/** All that there is to know of a queue. `Deps`: what a worker hands to its jobs. */
export interface Queue<Data extends object, Deps> {
  /** At most one job with a key waits, and at most one runs. */
  readonly key: (job: Data) => string;
  readonly options: Omit<EngineQueue, 'name'>;
  /** False: it also runs while the forge does not accept the credentials. */
  readonly needsForge: boolean;
  readonly run: (deps: Deps, job: RunningJob<Data>) => Promise<void>;
  /** After the last attempt. Must not throw. */
  readonly giveUp?: (deps: Deps, job: RunningJob<Data>, error: unknown) => Promise<void>;
}

export type Queues<Deps> = { readonly [K in Kind]: Queue<Jobs[K], Deps> };

/** The table as those see it who only put jobs in. */
export type QueueTable = { readonly [K in Kind]: Pick<Queue<Jobs[K], never>, 'key' | 'options'> };

export function kindsOf(queues: QueueTable): readonly Kind[] {
  // A table has no other keys.
  return Object.keys(queues) as Kind[];
}

export function keyOf<K extends Kind>(queues: QueueTable, kind: K, job: Jobs[K]): string {
  return queues[kind].key(job);
}

/** A pull request's jobs share a key, so that a burst of events becomes one review of its last state. */
export function reviewKey(job: PullRequestRef): string {
  return `${job.repository}#${job.number}`;
}

/** What every job of such a key is put in with. */
export function singletonOptions(key: string) {
  return { singletonKey: key } as const;
}
