import { shorten } from '../../common/shorten.ts';
import type { Facts } from '../../facts/table.ts';
import { factsOf } from '../../facts/table.ts';
import type { EvaluatedRule, Evaluation } from '../evaluation/evaluation.ts';
import { MAX_POLICY_FAULTS, MAX_RULE_ID_LENGTH } from '../limits.ts';
import type { Fault } from '../policy/faults.ts';
import { nearest } from '../policy/nearest.ts';
import type { Policy } from '../policy/policy.ts';
import { visible } from '../text.ts';
import type { Case, Expectation } from './parse.ts';
import { outcomeOf } from './schema.ts';

export interface CaseResult {
  readonly case: Case;
  readonly passed: boolean;
  /** In the order of the case. Empty when it was not run, since too many before it had hit a limit. */
  readonly rules: readonly RuleResult[];
}

export interface RuleResult {
  readonly expected: Expectation;
  readonly found: EvaluatedRule;
  readonly passed: boolean;
}

/** Each takes seconds until it is ended, and the next would most likely as well. */
const MAX_ENDED_CASES = 5;
/** So that the worker has always something to do. */
const CASES_AT_ONCE = 4;

/** Runs cases in which only rules of the policy are expected: see {@link unknownRules}. */
export async function runCases(
  policy: Policy,
  cases: readonly Case[],
  evaluate: (policy: Policy, facts: Facts) => Promise<Evaluation>,
): Promise<readonly CaseResult[]> {
  const results: CaseResult[] = [];
  let ended = 0;
  let next = 0;
  const runNext = async () => {
    for (let index = next++; index < cases.length; index = next++) {
      const one = cases[index];
      if (one === undefined) {
        return;
      }
      if (ended >= MAX_ENDED_CASES) {
        results[index] = { case: one, passed: false, rules: [] };
        continue;
      }
      const evaluation = await evaluate(policy, factsOf(one.given));
      ended += evaluation.ended === true ? 1 : 0;
      results[index] = compare(one, evaluation);
    }
  };
  await Promise.all(Array.from({ length: CASES_AT_ONCE }, runNext));
  return results;
}

/** The expected outcomes of the rules, beside the actual ones. */
function compare(one: Case, { rules }: Evaluation): CaseResult {
  const results = one.expect.flatMap((expected): RuleResult[] => {
    const found = rules.find(({ rule }) => rule.id === expected.rule);
    return found === undefined ? [] : [{ expected, found, passed: found.outcome === outcomeOf(expected.outcome) }];
  });
  return {
    case: one,
    rules: results,
    passed: results.length === one.expect.length && results.every(({ passed }) => passed),
  };
}

/**
 * The rules that cases name and the policy does not have, at most MAX_POLICY_FAULTS and a last fault that counts the
 * rest.
 */
export function unknownRules(policy: Policy, cases: readonly Case[]): readonly Fault[] {
  const ids = new Set(policy.rules.map(({ id }) => id));
  const unknown: (Expectation & Pick<Case, 'file'>)[] = [];
  let count = 0;
  for (const { file, expect } of cases) {
    for (const expectation of expect) {
      if (ids.has(expectation.rule)) {
        continue;
      }
      count += 1;
      if (count <= MAX_POLICY_FAULTS) {
        unknown.push({ ...expectation, file });
      }
    }
  }
  const faults = unknown.map(({ file, rule, line, column }): Fault => {
    const near = nearest(rule, [...ids]);
    const hint =
      near !== undefined
        ? `; did you mean "${near}"?`
        : policy.extends === undefined
          ? ''
          : '; if the extended policy has it, name a copy of that with --extends';
    return { file, line, column, message: `the policy has no rule ${quoted(rule)}${hint}` };
  });
  const last = faults.at(-1);
  return last === undefined || count === faults.length
    ? faults
    : [...faults, { ...last, message: `and ${count - faults.length} more rules that the policy does not have` }];
}

function quoted(rule: string): string {
  return `"${visible(shorten(rule, MAX_RULE_ID_LENGTH))}"`;
}
