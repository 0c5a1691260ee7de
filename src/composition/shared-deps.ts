import type { Redis } from 'ioredis';
import type pg from 'pg';
import type { Config } from '../config/config.ts';
import type { LackingCheck } from '../db/lacking.ts';
import type { JobQueue } from '../jobs/queue/engine.ts';
import type { Closers } from '../lifecycle.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import type { ReviewWorkers } from '../review/workers/review-workers.ts';
import type { Tracing } from '../tracing/tracing.ts';

/** What the door and the worker of a process share. */
export interface SharedDeps {
  readonly config: Config;
  readonly pool: pg.Pool;
  readonly redis: Redis;
  readonly jobs: JobQueue;
  readonly refuseLacking: LackingCheck;
  readonly metrics: Metrics;
  readonly tracing: Tracing;
  readonly closers: Closers;
  readonly log: Log;
  /** The workers of the whole process, where several workers run in one. Otherwise a worker starts and ends its own. */
  readonly workers: ReviewWorkers | undefined;
  /** The processor time of a task, in tests of what takes longer. */
  readonly maxTaskMs: number | undefined;
  /**
   * Multiplies the limits on what the stores and the forge take to answer. 1, except in tests: a machine that is busy
   * with other tests is no failure of what they are about.
   */
  readonly patience: number;
}

/**
 * The Redis channel that announces new jobs to the workers. A message is the names of their queues, with spaces between
 * them.
 */
export const WAKE_CHANNEL = 'gatehouse:wake';

/** Which queues have new jobs. */
export function wakeMessage(kinds: readonly string[]): string {
  return [...new Set(kinds)].join(' ');
}
