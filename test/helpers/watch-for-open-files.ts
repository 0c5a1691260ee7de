import type { AvaStats } from './summary.ts';

/** The parts of AVA's events that are looked at. */
export interface AvaEvent {
  readonly type: string;
  /** Path. */
  readonly testFile?: string;
  readonly stats?: Pick<AvaStats, 'remainingTests'>;
}

const QUIET_MS = 120_000;

/**
 * AVA waits for a test file that has left something open, a connection or a server, and does so forever after a test
 * with a time limit of its own. `act` is called with what to print when all tests are over and nothing happens.
 */
export function watchForOpenFiles(act: (message: string) => void, quietMs = QUIET_MS): (event: AvaEvent) => void {
  const open = new Set<string>();
  let remaining = 0;
  const timer = setTimeout(() => {
    if (remaining === 0 && open.size > 0) {
      act(`all tests are over, but these files have left something open: ${[...open].join(', ')}`);
    }
  }, quietMs).unref();
  return ({ type, testFile = '', stats }) => {
    timer.refresh();
    remaining = stats?.remainingTests ?? remaining;
    if (type === 'declared-test') {
      open.add(testFile);
    } else if (type === 'worker-finished' || type === 'worker-failed') {
      open.delete(testFile);
    }
  };
}
