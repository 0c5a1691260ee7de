import { type Facts, factsOf } from '../../../src/facts/table.ts';
import type { Given } from '../../../src/review/cases/given.ts';
import { evaluate } from '../../../src/review/evaluation/evaluate.ts';
import type { EvaluatedRule } from '../../../src/review/evaluation/evaluation.ts';
import { type PolicyRole, parsePolicy } from '../../../src/review/policy/parse.ts';
import type { Policy, PolicyOrigin } from '../../../src/review/policy/policy.ts';
import { predicates } from '../../../src/review/predicates/index.ts';
import { plain } from '../../../src/review/text.ts';
import { verdictOf } from '../../../src/review/verdict.ts';

/** A policy that has to be right, from its whole text. */
export function policyOf(text: string, origin: PolicyOrigin = { path: '.gatehouse.yml' }, role?: PolicyRole): Policy {
  const result = parsePolicy(text, origin, role);
  if (!result.ok) {
    throw new Error(result.faults.map(({ line, column, message }) => `${line}:${column}: ${message}`).join('\n'));
  }
  return result.policy;
}

/** A policy of one rule, from what the rule says beside its id, as one line of YAML. */
export function ruleOf(body: string): Policy {
  return policyOf(`version: 1\nrules:\n  - { id: it, ${body} }\n`);
}

/** What one rule says of a pull request. */
export function judge(body: string, given: Given): EvaluatedRule {
  const [rule] = evaluate(ruleOf(body), factsOf(given)).rules;
  if (rule === undefined) {
    throw new Error('a policy of one rule evaluates to one rule');
  }
  return rule;
}

/** How a predicate that a rule requires turns out, and what is said of it. */
export function judgedBy(condition: string, facts: Facts) {
  const [rule] = ruleOf(`require: ${condition}`).rules;
  if (rule?.require?.kind !== 'predicate') {
    throw new Error('expected a single predicate');
  }
  const { name, value, options } = rule.require;
  const result = predicates.get(name)?.judge(value, options, facts);
  if (result === undefined) {
    throw new Error(`there is no predicate ${name}`);
  }
  const { outcome, found, awaited = [], remedy } = result;
  return { outcome, found: plain(found), awaited: plain(awaited), toAvoid: plain(remedy.toAvoid) };
}

export function requiring(condition: string, given: Given) {
  return judgedBy(condition, factsOf(given));
}

/** The verdict of a whole policy. */
export function verdict(policyText: string, given: Given) {
  return verdictOf(evaluate(policyOf(policyText), factsOf(given)));
}
