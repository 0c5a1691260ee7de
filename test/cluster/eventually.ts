import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 500;
/** Far longer than anything here should take: a busy machine must not look like a fault. */
const GIVE_UP_MS = 180_000;

/** Waits until the condition holds. `what` is what was waited for, as in "the doors are ready", or names it in the end. */
export async function eventually(what: string | (() => string), condition: () => Promise<boolean>): Promise<void> {
  const start = performance.now();
  while (!(await condition())) {
    if (performance.now() - start > GIVE_UP_MS) {
      throw new Error(`not within ${GIVE_UP_MS / 1_000} s: ${typeof what === 'string' ? what : what()}`);
    }
    await sleep(POLL_MS);
  }
}
