import type { Finding } from '../evaluation/verdict.ts';
import type { Level } from '../policy/schema.ts';

const LEVELS: Readonly<Record<Level, string>> = { error: '❌', warn: '⚠️', info: 'ℹ️' };
export const UNDECIDED = '🚫';
export const WAITING = '⏳';
export const OVERRIDDEN = '🔓';

export function iconOf({ level, outcome }: Pick<Finding, 'level' | 'outcome'>): string {
  return outcome === 'undecided' ? UNDECIDED : LEVELS[level];
}
