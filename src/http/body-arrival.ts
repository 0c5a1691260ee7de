/**
 * A body's first byte is due after this, and from then on MIN_BYTES_PER_SECOND. A lost packet is sent again within 1 s.
 */
const FIRST_BYTE_MS = 2_000;
/** A delivery of 25 KB has so arrived after 5 s, when Gitea gives up. */
const MIN_BYTES_PER_SECOND = 8 * 1024;
const CHECK_MS = 500;
/** Connections that may wait for a first byte at once. Each costs about 20 KB, and none of the bodies' budget. */
const MAX_WAITING = 1_000;

/** The arrival of one body. */
export interface Arrival {
  progress(receivedBytes: number): void;
  /** The body has arrived, or is not wanted any more. */
  end(): void;
}

/**
 * Bounds how long bodies may take to arrive, and how many may not have begun to. `stop` is called with the reason:
 * `slow` for a body below the minimum rate, `overloaded` for the one that has waited longest for its first byte when
 * there are too many.
 */
export type WatchArrival = (stop: (reason: 'slow' | 'overloaded') => void) => Arrival;

export function makeArrivalWatch(): WatchArrival {
  // A Set keeps the order of insertion: its first is the oldest.
  const waiting = new Set<() => void>();

  return (stop) => {
    const begin = performance.now();
    let received = 0;
    const check = () => {
      if (received < dueBytes(performance.now() - begin)) {
        stop('slow');
      }
    };
    // After the event loop has read what was waiting, so that a busy process does not blame its clients.
    const timer = setInterval(() => setImmediate(check), CHECK_MS);
    const giveWay = () => stop('overloaded');
    waiting.add(giveWay);
    const [oldest] = waiting;
    if (waiting.size > MAX_WAITING && oldest !== undefined) {
      waiting.delete(oldest);
      oldest();
    }
    return {
      progress(bytes) {
        received = bytes;
        waiting.delete(giveWay);
      },
      end() {
        clearInterval(timer);
        waiting.delete(giveWay);
      },
    };
  };
}

function dueBytes(elapsedMs: number): number {
  return elapsedMs < FIRST_BYTE_MS ? 0 : Math.max(1, ((elapsedMs - FIRST_BYTE_MS) / 1_000) * MIN_BYTES_PER_SECOND);
}
