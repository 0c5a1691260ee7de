import { withTimeout } from './common/timeout.ts';
import type { Log } from './log.ts';

/** Things to release, in the reverse of the order in which they were acquired. */
export interface Closers {
  add(name: string, close: () => unknown): void;
  /** Releases everything once; what fails or takes too long is logged and does not delay the rest. */
  closeAll(): Promise<void>;
}

const CLOSE_TIMEOUT_MS = 5_000;

export function makeClosers(log: Log): Closers {
  const stack = new AsyncDisposableStack();
  return {
    add(name, close) {
      stack.defer(async () => {
        try {
          await withTimeout(CLOSE_TIMEOUT_MS, Promise.resolve(close()), () =>
            Promise.reject(new Error(`took longer than ${CLOSE_TIMEOUT_MS} ms`)),
          );
        } catch (err) {
          log.warn({ err, closing: name }, 'could not close cleanly');
        }
      });
    },
    closeAll: () => stack.disposeAsync(),
  };
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
