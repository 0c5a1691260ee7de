import type { NeededFacts } from '../facts.ts';
import { predicates } from '../predicates/index.ts';
import { union } from './needs.ts';
import type { Condition, Rule } from './policy.ts';

/** Found out when the policy is parsed, since a predicate reads its value for it. */
export function ruleNeeds({ when, require, forbid }: Pick<Rule, 'when' | 'require' | 'forbid'>): NeededFacts {
  return union(
    [when, require, forbid].flatMap((condition) => (condition === undefined ? [] : conditionNeeds(condition))),
  );
}

function conditionNeeds(condition: Condition): readonly Partial<NeededFacts>[] {
  switch (condition.kind) {
    case 'not':
      return conditionNeeds(condition.part);
    case 'all':
    case 'any':
      return condition.parts.flatMap(conditionNeeds);
    case 'predicate':
      return [predicates.get(condition.name)?.needs(condition.value) ?? {}];
  }
}
