import * as z from 'zod';
import { say, type Text } from '../text.ts';
import type { Outcome } from './predicate.ts';

const OPERATORS = {
  '<=': { words: 'at most', holds: (found: number, limit: number) => found <= limit },
  '<': { words: 'fewer than', holds: (found: number, limit: number) => found < limit },
  '>=': { words: 'at least', holds: (found: number, limit: number) => found >= limit },
  '>': { words: 'more than', holds: (found: number, limit: number) => found > limit },
  '=': { words: 'exactly', holds: (found: number, limit: number) => found === limit },
} as const;

type Operator = keyof typeof OPERATORS;

export interface Comparison {
  readonly operator: Operator;
  readonly limit: number;
}

function isOperator(text: string): text is Operator {
  return Object.hasOwn(OPERATORS, text);
}

/** `'<= 600'`. */
export const comparison = z
  .string({ error: "a comparison in quotes, such as '<= 600'" })
  .regex(/^\s*(?:<=|<|>=|>|=)\s*\d{1,9}\s*$/, {
    error: "a comparison: <=, <, >=, > or =, and a whole number, such as '<= 600'",
  })
  .transform((text): Comparison => {
    const [, operator = '', limit = ''] = /^\s*(<=|<|>=|>|=)\s*(\d+)/.exec(text) ?? [];
    return { operator: isOperator(operator) ? operator : '=', limit: Number(limit) };
  });

const OPPOSITES = { '<=': '>', '<': '>=', '>=': '<', '>': '<=' } as const;

/** What holds where this does not; undefined for `=`, which has no one opposite. */
export function opposite({ operator, limit }: Comparison): Comparison | undefined {
  return operator === '=' ? undefined : { operator: OPPOSITES[operator], limit };
}

/** "at most 600". */
export function compared({ operator, limit }: Comparison): Text {
  return say`${[OPERATORS[operator].words]} ${limit}`;
}

/** `complete` is false when there may be more than was counted. */
export function compare({ operator, limit }: Comparison, found: number, complete: boolean): Outcome {
  if (complete) {
    return OPERATORS[operator].holds(found, limit) ? 'matched' : 'unmatched';
  }
  // Only what more of the same could not change is known.
  switch (operator) {
    case '>':
    case '>=':
      return OPERATORS[operator].holds(found, limit) ? 'matched' : 'undecided';
    case '<':
    case '<=':
      return OPERATORS[operator].holds(found, limit) ? 'undecided' : 'unmatched';
    case '=':
      return found > limit ? 'unmatched' : 'undecided';
  }
}
