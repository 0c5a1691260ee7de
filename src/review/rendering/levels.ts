import type { LevelInForce } from '../policy/policy.ts';
import type { Finding } from '../verdict.ts';

const LEVELS: Readonly<Record<LevelInForce, string>> = { error: '❌', warn: '⚠️', info: 'ℹ️' };
export const UNDECIDED = '🚫';
export const WAITING = '⏳';
export const OVERRIDDEN = '🔓';

/** What is so of a draft only as if it were ready for review. */
export const AS_IF_READY = 'once this draft is ready for review';

export const NOT_BLOCKING = '(doesn’t block the merge)';

export function iconOf({ level, outcome }: Pick<Finding, 'level' | 'outcome'>): string {
  return outcome === 'undecided' ? UNDECIDED : LEVELS[level];
}
