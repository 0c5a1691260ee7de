import type { PgBoss } from 'pg-boss';
import type { Log } from '../../log.ts';
import type { RunningJob, TakenJob } from './queue.ts';

/** How often a running job tells the engine that its worker lives. */
const HEARTBEAT_MS = 5_000;

/** The engine for those who run jobs. Each call names the attempt, and leaves one of another worker alone. */
type Engine = Pick<PgBoss, 'touch' | 'complete' | 'fail'>;

interface HoldDeps {
  readonly engine: Engine;
  readonly log: Log;
  readonly heartbeatMs?: number;
}

/**
 * Runs a job that was taken until `run` has ended, it took too long, or `abandon` is aborted; then tells the engine how
 * it ended. The signal that `run` gets is also aborted when another worker has the job. Throws when the engine could
 * not be told: without heartbeats, the job is tried again.
 */
export async function holdJob<Data extends object>(
  { engine, log, heartbeatMs = HEARTBEAT_MS }: HoldDeps,
  job: TakenJob<Data>,
  run: (job: RunningJob<Data>) => Promise<void>,
  abandon: AbortSignal,
): Promise<void> {
  const { id, name, retryCount, expireInSeconds } = job;
  const attempt = [{ id, retryCount }];
  const signal = new AbortController();
  const { promise: cutShort, reject } = Promise.withResolvers<never>();

  function end(reason: Error): void {
    reject(reason);
    signal.abort(reason);
  }

  async function touch(): Promise<void> {
    try {
      // Documented, and left out of its type.
      const touched = await engine.touch(name, attempt);
      if ('affected' in touched && touched.affected === 0) {
        signal.abort(new Error('another worker has the job'));
      }
    } catch (err) {
      // It says nothing of the job.
      log.warn({ err, queue: name }, 'could not tell the job engine that a job runs');
    }
  }

  const stop = () => end(new Error('the worker stopped while the job ran'));
  abandon.addEventListener('abort', stop);
  const heartbeats = setInterval(() => void touch(), heartbeatMs);
  const tooLong = new Error(`the job ran for longer than ${expireInSeconds} s`);
  const expiry = setTimeout(() => end(tooLong), expireInSeconds * 1_000);
  try {
    if (abandon.aborted) {
      stop();
    }
    await Promise.race([run({ ...job, signal: signal.signal }), cutShort]);
    await engine.complete(name, attempt);
  } catch (error) {
    await engine.fail(name, attempt, error instanceof Error ? error : { message: String(error) });
  } finally {
    abandon.removeEventListener('abort', stop);
    clearInterval(heartbeats);
    clearTimeout(expiry);
  }
}
