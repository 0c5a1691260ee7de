import type { MergedPullRequest } from '../../forges/port/merged.ts';
import type { EvaluatedRule, Evaluation, RuleOutcome } from '../evaluation/evaluation.ts';
import type { Policy } from '../policy/policy.ts';
import { type Finding, verdictOf } from '../verdict.ts';

/** What a policy would have done with a pull request that was merged. */
export interface PastVerdict {
  readonly merged: MergedPullRequest;
  /** `stopped`: a rule of level error did not hold, or waited. `undecided`: none did, but one could not be judged. */
  readonly outcome: 'passed' | 'stopped' | 'undecided';
  readonly rules: readonly EvaluatedRule[];
  /** Why it is not `passed`. */
  readonly findings: readonly Finding[];
  /** What the forge no longer has. */
  readonly gone: readonly string[];
}

export function pastVerdict(merged: MergedPullRequest, evaluation: Evaluation, gone: readonly string[]): PastVerdict {
  const blocking = verdictOf(evaluation).findings.filter(({ level }) => level === 'error' || evaluation.ended);
  const stopping = blocking.filter(({ outcome }) => outcome !== 'undecided');
  const outcome = stopping.length > 0 ? 'stopped' : blocking.length > 0 ? 'undecided' : 'passed';
  const findings = stopping.length > 0 ? stopping : blocking;
  return { merged, outcome, rules: evaluation.rules, findings, gone };
}

/** How often each rule had each outcome. */
export interface RuleTally {
  readonly rule: Policy['rules'][number];
  readonly counts: Readonly<Record<RuleOutcome, number>>;
}

export function tallyRules(policy: Policy, verdicts: readonly PastVerdict[]): readonly RuleTally[] {
  return policy.rules.map((rule, index) => {
    const outcomes = verdicts.map(({ rules }) => rules[index]?.outcome);
    const count = (wanted: RuleOutcome) => outcomes.filter((outcome) => outcome === wanted).length;
    const counts = {
      passed: count('passed'),
      failed: count('failed'),
      waiting: count('waiting'),
      inactive: count('inactive'),
      undecided: count('undecided'),
    };
    return { rule, counts };
  });
}
