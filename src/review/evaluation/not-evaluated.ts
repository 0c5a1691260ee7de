import type { Rule } from '../policy/policy.ts';
import { say, type Text } from '../text.ts';
import type { EvaluatedCondition, EvaluatedRule } from './evaluation.ts';

/** A rule that there was no time or memory to evaluate. */
export function notEvaluated(rule: Rule, found: Text): EvaluatedRule {
  const require: EvaluatedCondition = {
    kind: 'predicate',
    name: 'evaluation',
    line: rule.source.line,
    ...undecided(say`the rule to be evaluated`, found),
  };
  return { rule: described(rule), outcome: 'undecided', require };
}

/** What an evaluation keeps of a rule. */
export function described({ id, level, message, example, locked, hidden, source }: Rule): EvaluatedRule['rule'] {
  return {
    id,
    level,
    source,
    ...(message === undefined ? {} : { message }),
    ...(example === undefined ? {} : { example }),
    ...(locked === undefined ? {} : { locked }),
    ...(hidden === undefined ? {} : { hidden }),
  };
}

/** What a predicate says that could not be evaluated. */
export function undecided(expected: Text, found: Text) {
  const remedy = say`Split the pull request into smaller ones, or make the policy's patterns simpler.`;
  return {
    actor: 'author',
    outcome: 'undecided',
    expected,
    found,
    locations: [],
    remedy: { toMatch: remedy, toAvoid: remedy },
  } as const;
}
