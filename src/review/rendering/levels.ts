import type { Finding } from '../evaluation/verdict.ts';
import type { LevelInForce } from '../policy/policy.ts';

const LEVELS: Readonly<Record<LevelInForce, string>> = { error: '❌', warn: '⚠️', info: 'ℹ️' };
export const UNDECIDED = '🚫';
export const WAITING = '⏳';
export const OVERRIDDEN = '🔓';

export function iconOf({ level, outcome }: Pick<Finding, 'level' | 'outcome'>): string {
  return outcome === 'undecided' ? UNDECIDED : LEVELS[level];
}
