import type { Location } from '../predicates/predicate.ts';
import type { Text } from '../text.ts';
import type { EvaluatedCondition, EvaluatedRule } from './evaluate.ts';

/** Why a rule does not hold, in the parts of its conditions that decide it. */
export type Reason =
  | {
      readonly kind: 'predicate';
      readonly predicate: string;
      /** Whether the predicate should have matched, or should not have. */
      readonly wanted: boolean;
      readonly expected: Text;
      readonly found: Text;
      readonly fix: Text;
      readonly locations: readonly Location[];
    }
  /** Mending any one of these is enough. */
  | { readonly kind: 'one-of'; readonly reasons: readonly Reason[] };

/** Empty when the rule holds or does not apply. */
export function reasonsOf({ outcome, require, forbid }: EvaluatedRule): readonly Reason[] {
  if (outcome === 'passed' || outcome === 'inactive') {
    return [];
  }
  return [
    ...(require === undefined ? [] : against(require, true)),
    ...(forbid === undefined ? [] : against(forbid, false)),
  ];
}

/** What in a condition stands in the way of its matching, or of its not matching. */
function against(condition: EvaluatedCondition, wanted: boolean): readonly Reason[] {
  const settled = wanted ? 'matched' : 'unmatched';
  if (condition.outcome === settled) {
    return [];
  }
  switch (condition.kind) {
    case 'not':
      return against(condition.part, !wanted);
    case 'all':
    case 'any': {
      const reasons = condition.parts.map((part) => against(part, wanted)).filter((found) => found.length > 0);
      const each = (condition.kind === 'all') === wanted;
      const flat = reasons.flat();
      if (each || reasons.length < 2) {
        return flat;
      }
      return [{ kind: 'one-of', reasons: flat }];
    }
    case 'predicate':
      return [
        {
          kind: 'predicate',
          predicate: condition.name,
          wanted,
          expected: condition.expected,
          found: condition.found,
          fix: wanted ? condition.remedy.toMatch : condition.remedy.toAvoid,
          // Places are evidence of a match; where one was wanted there are none.
          locations: wanted ? [] : condition.locations,
        },
      ];
  }
}

/** All places of all reasons, each once. */
export function locationsOf(reasons: readonly Reason[]): readonly Location[] {
  const found = new Map<string, Location>();
  const visit = (reason: Reason): void => {
    if (reason.kind === 'one-of') {
      reason.reasons.forEach(visit);
      return;
    }
    for (const location of reason.locations) {
      const key = JSON.stringify([location.path, location.line ?? null]);
      if (!found.has(key)) {
        found.set(key, location);
      }
    }
  };
  reasons.forEach(visit);
  return [...found.values()];
}
