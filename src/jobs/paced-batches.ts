import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Milliseconds of pause for each millisecond that a batch took. So background work has at most a tenth of what the
 * database can do, and less of one that is slow because it is busy.
 */
const PAUSE_RATIO = 9;

export interface Pace {
  /** Batches begin only within this time. */
  readonly maxMs: number;
  /** No batch begins after it is aborted, and a pause ends. */
  readonly signal: AbortSignal;
  /** For tests. Milliseconds. */
  readonly now?: () => number;
  readonly pause?: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** Runs batches, with pauses between them, until one says that it was the last. `unfinished`: it was stopped before. */
export async function inPacedBatches(
  runBatch: () => Promise<'more' | 'last'>,
  { maxMs, signal, now = () => performance.now(), pause = pauseUnlessAborted }: Pace,
): Promise<'finished' | 'unfinished'> {
  const end = now() + maxMs;
  while (!signal.aborted && now() < end) {
    const begin = now();
    if ((await runBatch()) === 'last') {
      return 'finished';
    }
    await pause((now() - begin) * PAUSE_RATIO, signal);
  }
  return 'unfinished';
}

async function pauseUnlessAborted(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch((error: unknown) => {
    if (!signal.aborted) {
      throw error;
    }
  });
}
