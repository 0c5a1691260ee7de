import { setTimeout as sleep } from 'node:timers/promises';
import { LONG_MS } from './deadline.ts';

const POLL_MS = 25;

/** Waits until the condition holds. It fails only when that takes far longer than any machine should. */
export function until(condition: () => Promise<boolean> | boolean): Promise<void> {
  return eventually(`${condition}`, condition);
}

/** The same, for a failure that says what was waited for, as in "the resync is over". */
export async function eventually(what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
  const start = performance.now();
  while (!(await condition())) {
    if (performance.now() - start > LONG_MS) {
      throw new Error(`waited ${LONG_MS} ms in vain until ${what}`);
    }
    await sleep(POLL_MS);
  }
}

/** Forges tell times in seconds, and an approval in the second of a change does not count. */
export function nextSecond(): Promise<void> {
  const second = Math.floor(Date.now() / 1_000);
  return until(() => Date.now() / 1_000 >= second + 1);
}
