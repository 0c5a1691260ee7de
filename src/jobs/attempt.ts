import type pg from 'pg';
import type { PgBoss } from 'pg-boss';
import { ForgeError } from '../forges/port/forge-error.ts';
import type { Log } from '../log.ts';
import type { ForgeAccess } from './forge-access.ts';
import { DEAD_LETTERS, JOBS_SCHEMA, singletonOptions, type TakenJob } from './queue/queue.ts';

interface AttemptDeps {
  readonly boss: PgBoss;
  readonly pool: pg.Pool;
  readonly access: ForgeAccess;
  readonly log: Log;
}

export interface Work {
  readonly key: string;
  /** False: it also runs while the forge does not accept the credentials. */
  readonly needsForge: boolean;
  readonly run: () => Promise<void>;
  /** After the last attempt. Must not throw. */
  readonly giveUp?: (error: unknown) => Promise<void>;
}

/**
 * What a job is about was not found, and is looked for again: a webhook can be faster than the forge's replicas, and a
 * proxy answers 404 while the forge restarts. No failure: it may be gone.
 */
export class NotFoundYetError extends Error {
  override readonly name = 'NotFoundYetError';
}

/** How long a job waits while the forge does not accept the credentials. */
const REFUSED_PAUSE_MS = 60_000;
/** So that replicas do not all return to the forge at the same moment. */
const PAUSE_JITTER_MS = 5_000;

/**
 * Runs a job once. Returns when the job is done, waits, or is refused, or when another of its key does the rest; throws
 * when the engine is to retry it, or to put it with the dead letters after its last attempt.
 */
export async function attempt(
  { boss, pool, access, log }: AttemptDeps,
  job: TakenJob<object>,
  { key, needsForge, run, giveUp }: Work,
): Promise<void> {
  const { id, name, data, retryCount, retryLimit } = job;

  async function putOff(until: number): Promise<Date> {
    const startAfter = new Date(until + Math.random() * PAUSE_JITTER_MS);
    await boss.send(name, data, { ...singletonOptions(key), startAfter });
    return startAfter;
  }

  if (needsForge && access.current()?.kind === 'not-accepted') {
    // Another replica may have newer credentials, so the job stays in the queue.
    const until = await putOff(Date.now() + REFUSED_PAUSE_MS);
    log.debug({ queue: name, ...data, until }, 'a job waits, because the forge does not accept the credentials');
    return;
  }
  try {
    await run();
  } catch (error) {
    // Waiting for a rate limit is no failure, and does not count as an attempt.
    if (error instanceof ForgeError && error.retryAt !== undefined) {
      const until = await putOff(error.retryAt);
      log.info({ queue: name, ...data, until, reason: error.message }, 'a review waits for a limit');
      return;
    }
    if (error instanceof ForgeError && error.kind === 'refused') {
      if ((await access.check())?.kind === 'not-accepted') {
        await putOff(Date.now() + REFUSED_PAUSE_MS);
        return;
      }
      // Trying again would not help. The next resync finds what has no verdict, and so sees when it is permitted.
      log.warn(
        { queue: name, ...data, reason: error.message },
        'the forge refuses a review: the next resync tries again',
      );
      await giveUp?.(error);
      return;
    }
    if (error instanceof ForgeError && error.kind === 'too-large' && giveUp !== undefined) {
      log.warn(
        { queue: name, ...data, reason: error.message },
        'what a review needs is too large to be read: the next resync tries again',
      );
      await giveUp(error);
      return;
    }
    logFailure(log, job, error, needsForge ? 'a review failed' : 'a periodic job failed');
    if (await waitsForRetry(pool, name, key, id)) {
      return;
    }
    if (retryCount >= retryLimit) {
      await giveUp?.(error);
    }
    throw error;
  }
  if (job.hasDeadLetters) {
    await forgetDeadLetters(pool, name, key);
  }
}

function logFailure(log: Log, { name, data, retryCount }: TakenJob<object>, error: unknown, message: string): void {
  const about = { queue: name, ...data, attempt: retryCount + 1 };
  if (error instanceof NotFoundYetError) {
    log.debug(about, error.message);
  } else {
    log.warn({ err: error, ...about }, message);
  }
}

/** Only one job of a key can wait for a retry: the engine would put a second with the dead letters at once. */
async function waitsForRetry(pool: pg.Pool, queue: string, key: string, otherThan: string): Promise<boolean> {
  const { rowCount } = await pool.query(
    `SELECT FROM ${JOBS_SCHEMA}.job WHERE name = $1 AND state = 'retry' AND singleton_key = $2 AND id <> $3`,
    [queue, key, otherThan],
  );
  return rowCount !== 0;
}

/** A job that succeeded after it was given up needs no action any more. */
async function forgetDeadLetters(pool: pg.Pool, queue: string, key: string): Promise<void> {
  await pool.query(`DELETE FROM ${JOBS_SCHEMA}.job WHERE name = $1 AND source_name = $2 AND singleton_key = $3`, [
    DEAD_LETTERS,
    queue,
    key,
  ]);
}
