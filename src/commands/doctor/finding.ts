import { withTimeout } from '../../common/timeout.ts';
import { ForgeError } from '../../forges/port/forge-error.ts';
import { reasonOf } from '../failures.ts';

/** What one check has found. */
export interface Finding {
  readonly check: string;
  /**
   * - `unknown`: the forge does not tell, or not to these credentials. The message says why.
   * - `skipped`: something else that it depends on is wrong.
   */
  readonly result: 'ok' | 'wrong' | 'unknown' | 'skipped';
  readonly message: string;
  /** What to do about it. */
  readonly action?: string;
}

export const ok = (check: string, message: string): Finding => ({ check, result: 'ok', message });
export const wrong = (check: string, message: string, action: string): Finding => ({
  check,
  result: 'wrong',
  message,
  action,
});
export const unknown = (check: string, message: string, action?: string): Finding => ({
  check,
  result: 'unknown',
  message,
  ...(action !== undefined && { action }),
});

/** `lacks` is what is missing: `no database`. */
export const skipped = (checks: readonly string[], lacks: string): readonly Finding[] =>
  checks.map((check) => ({ check, result: 'skipped', message: `skipped: ${lacks}` }));

/** For a check that asks a forge several times, each at most 10 seconds. */
const CHECK_LIMIT_MS = 15_000;

/**
 * The findings of a check that may hang or fail. It is given up after `limitMs`, so that the others do not wait for it.
 */
export async function bounded(
  check: string,
  work: () => Promise<readonly Finding[]>,
  limitMs = CHECK_LIMIT_MS,
): Promise<readonly Finding[]> {
  try {
    return await withTimeout(limitMs, work(), () => [
      wrong(check, `no result within ${limitMs / 1_000} seconds`, 'find out why it is slow, and run doctor again'),
    ]);
  } catch (error) {
    return [failed(check, error)];
  }
}

function failed(check: string, error: unknown): Finding {
  const reason = reasonOf(error);
  if (error instanceof ForgeError && error.kind === 'rate-limited') {
    return unknown(check, `the rate limit is reached: ${reason}`, 'run doctor again later');
  }
  if (error instanceof ForgeError && error.kind === 'refused') {
    return unknown(check, `these credentials may not read it: ${reason}`);
  }
  return wrong(check, reason, 'fix the cause, and run doctor again');
}
