import type { Readiness } from '../http/readiness.ts';
import type { QueueStats } from '../jobs/queue/queue-stats.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';

const SAMPLE_INTERVAL_MS = 10_000;
/** Long enough for the first connections to be open. */
const FIRST_SAMPLE_MS = 1_000;

export interface SamplerOptions {
  readonly readiness: () => Promise<Readiness>;
  /** Undefined when there is no recent count. */
  readonly queueStats: () => Promise<readonly QueueStats[] | undefined>;
  /** Owners by the state of their baseline. */
  readonly baselines: () => Promise<ReadonlyMap<string, number>>;
  /** Seconds. */
  readonly oldestUnseenSuccess: () => Promise<number>;
  readonly metrics: Metrics;
  readonly log: Log;
}

/**
 * Samples the stores periodically for the metrics page, so that a scrape reads
 * memory only. Returns a function that stops it.
 */
export function startSampler(options: SamplerOptions): () => void {
  const { readiness, queueStats, baselines, oldestUnseenSuccess, metrics, log } = options;
  let stopped = false;

  async function sample(): Promise<void> {
    const { dependencies } = await readiness();
    // An outdated number is worse than none.
    metrics.jobs.reset();
    metrics.oldestWaitingJobSeconds.remove();
    metrics.baselines.reset();
    metrics.oldestUnseenSuccessSeconds.remove();
    if (dependencies.database.status === 'down') {
      return;
    }
    for (const [state, count] of await baselines()) {
      metrics.baselines.set({ state }, count);
    }
    metrics.oldestUnseenSuccessSeconds.set(await oldestUnseenSuccess());
    const queues = await queueStats();
    if (queues === undefined) {
      return;
    }
    for (const { queue, waiting, active, failed } of queues) {
      metrics.jobs.set({ queue, state: 'waiting' }, waiting);
      metrics.jobs.set({ queue, state: 'active' }, active);
      metrics.jobs.set({ queue, state: 'failed' }, failed);
    }
    metrics.oldestWaitingJobSeconds.set(Math.max(0, ...queues.map(({ oldestWaitingSeconds }) => oldestWaitingSeconds)));
  }

  async function loop(): Promise<void> {
    try {
      await sample();
    } catch (err) {
      log.debug({ err }, 'the stores could not be sampled');
    }
    if (!stopped) {
      timer = setTimeout(loop, SAMPLE_INTERVAL_MS);
    }
  }

  let timer = setTimeout(loop, FIRST_SAMPLE_MS);
  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}
