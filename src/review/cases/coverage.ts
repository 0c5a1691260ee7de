import type { EvaluatedCondition, EvaluatedRule } from '../evaluation/evaluation.ts';
import type { Condition, Policy, PolicyOrigin, Rule } from '../policy/policy.ts';
import type { Outcome } from '../predicates/predicate.ts';
import type { CaseResult } from './run.ts';

/** A part of a policy that no case shows to work. */
export interface Uncovered extends PolicyOrigin {
  readonly line: number;
  readonly rule: string;
  /** `require: files`; absent when it is the whole rule. */
  readonly part?: string;
  readonly missing: 'any case' | 'a case that reaches it' | 'a case that matches' | 'a case that does not match';
}

const SECTIONS = ['when', 'require', 'forbid'] as const;

/** What the cases leave open: rules that none expects anything of, and predicates that never match, or always do. */
export function uncovered(policy: Policy, results: readonly CaseResult[]): readonly Uncovered[] {
  const seen = new Map<string, EvaluatedRule[]>();
  for (const { rules } of results) {
    for (const { expected, found } of rules) {
      const others = seen.get(expected.rule);
      if (others === undefined) {
        seen.set(expected.rule, [found]);
      } else {
        others.push(found);
      }
    }
  }
  return policy.rules.flatMap((rule) => ofRule(rule, seen.get(rule.id) ?? []));
}

function ofRule(rule: Rule, seen: readonly EvaluatedRule[]): readonly Uncovered[] {
  const { source, id } = rule;
  if (seen.length === 0) {
    return [{ ...source, rule: id, missing: 'any case' }];
  }
  return SECTIONS.flatMap((section) => {
    const condition = rule[section];
    const evaluated = seen.flatMap((found) => found[section] ?? []);
    return condition === undefined
      ? []
      : ofCondition(condition, evaluated).map(({ line, name, missing }) => ({
          ...source,
          line,
          rule: id,
          part: `${section}: ${name}`,
          missing,
        }));
  });
}

interface UncoveredPredicate {
  readonly line: number;
  readonly name: string;
  readonly missing: Uncovered['missing'];
}

/** `evaluated` are the results of this very condition. */
function ofCondition(condition: Condition, evaluated: readonly EvaluatedCondition[]): readonly UncoveredPredicate[] {
  switch (condition.kind) {
    case 'all':
    case 'any':
      return condition.parts.flatMap((part, index) =>
        ofCondition(
          part,
          evaluated.flatMap((one) => ('parts' in one ? (one.parts[index] ?? []) : [])),
        ),
      );
    case 'not':
      return ofCondition(
        condition.part,
        evaluated.flatMap((one) => ('part' in one ? one.part : [])),
      );
    case 'predicate': {
      const { line, name } = condition;
      const outcomes = new Set<Outcome>(evaluated.map(({ outcome }) => outcome));
      if (outcomes.size === 0) {
        return [{ line, name, missing: 'a case that reaches it' }];
      }
      return [
        ...(outcomes.has('matched') ? [] : [{ line, name, missing: 'a case that matches' } as const]),
        ...(outcomes.has('unmatched') ? [] : [{ line, name, missing: 'a case that does not match' } as const]),
      ];
    }
  }
}
