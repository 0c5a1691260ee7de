import type { NeededFacts } from '../facts.ts';
import { predicates } from '../predicates/index.ts';
import type { Condition, Policy, Rule } from './schema.ts';

/** What must be read from the forge before this policy can be evaluated: a policy about titles needs nothing more. */
export function neededFacts({ rules }: Policy): NeededFacts {
  return union(rules.map(({ needs }) => needs));
}

/** Beside the pull request itself. */
export function needsOnlyFiles(policy: Policy): boolean {
  const { changedFiles: _files, ...others } = neededFacts(policy);
  return Object.values(others).every((needed) => needed === false || (Array.isArray(needed) && needed.length === 0));
}

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

function union(all: readonly Partial<NeededFacts>[]): NeededFacts {
  return {
    changedFiles: all.some(({ changedFiles }) => changedFiles),
    commits: all.some(({ commits }) => commits),
    signatures: all.some(({ signatures }) => signatures),
    cleanMerges: all.some(({ cleanMerges }) => cleanMerges),
    updates: all.some(({ updates }) => updates),
    reviews: all.some(({ reviews }) => reviews),
    requestsForChanges: all.some(({ requestsForChanges }) => requestsForChanges),
    requestedReviews: all.some(({ requestedReviews }) => requestedReviews),
    lastChange: all.some(({ lastChange }) => lastChange),
    checks: all.some(({ checks }) => checks),
    codeOwners: all.some(({ codeOwners }) => codeOwners),
    teams: [...new Set(all.flatMap(({ teams }) => teams ?? []))].sort(),
  };
}
