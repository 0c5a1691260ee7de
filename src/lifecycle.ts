import type { Log } from './log.ts';

/** Things to release, in the reverse of the order in which they were acquired. */
export interface Closers {
  add(name: string, close: () => unknown): void;
  /** Releases everything once; what fails or takes too long is logged and does not hold up the rest. */
  closeAll(): Promise<void>;
}

const CLOSE_TIMEOUT_MS = 5_000;

export function makeClosers(log: Log): Closers {
  const closers: { name: string; close: () => unknown }[] = [];
  return {
    add(name, close) {
      closers.push({ name, close });
    },
    async closeAll() {
      for (let closer = closers.pop(); closer !== undefined; closer = closers.pop()) {
        const { name, close } = closer;
        try {
          await within(CLOSE_TIMEOUT_MS, Promise.resolve(close()));
        } catch (err) {
          log.warn({ err, closing: name }, 'could not close cleanly');
        }
      }
    },
  };
}

async function within(timeoutMs: number, work: Promise<unknown>): Promise<void> {
  const timeout = Promise.withResolvers<never>();
  const timer = setTimeout(() => timeout.reject(new Error(`took longer than ${timeoutMs} ms`)), timeoutMs);
  try {
    await Promise.race([work, timeout.promise]);
  } finally {
    clearTimeout(timer);
  }
}

const SIGNAL_NUMBERS = { SIGINT: 2, SIGTERM: 15 } as const;

/**
 * Resolves with the first SIGTERM or SIGINT. A second one exits at once with 128 + the signal's number,
 * as a shell reports it.
 */
export function firstShutdownSignal(): Promise<string> {
  const first = Promise.withResolvers<string>();
  let stopping = false;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (stopping) {
        process.exit(128 + SIGNAL_NUMBERS[signal]);
      }
      stopping = true;
      first.resolve(signal);
    });
  }
  return first.promise;
}
