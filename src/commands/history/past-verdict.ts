import { FACT_NAMES, FACTS, type FactName, type Needs } from '../../facts/table.ts';
import type { MergedPullRequest } from '../../forges/port/merged.ts';
import type { EvaluatedRule, Evaluation, RuleOutcome } from '../../review/evaluation/evaluation.ts';
import type { Policy } from '../../review/policy/policy.ts';
import { type Finding, verdictOf } from '../../review/verdict.ts';

/** What a policy would have done with a pull request that was merged. */
export interface PastVerdict {
  readonly merged: MergedPullRequest;
  /** `stopped`: a rule of level error did not hold, or waited. `undecided`: none did, but one could not be judged. */
  readonly outcome: 'passed' | 'stopped' | 'undecided';
  readonly rules: readonly EvaluatedRule[];
  /** Why it is not `passed`. */
  readonly findings: readonly Finding[];
  /** Why nothing but the pull request itself could be read. */
  readonly unread: string | undefined;
}

export function pastVerdict(
  merged: MergedPullRequest,
  evaluation: Evaluation,
  unread: string | undefined,
): PastVerdict {
  const blocking = verdictOf(evaluation).findings.filter(({ level }) => level === 'error' || evaluation.ended);
  const stopping = blocking.filter(({ outcome }) => outcome !== 'undecided');
  const outcome = stopping.length > 0 ? 'stopped' : blocking.length > 0 ? 'undecided' : 'passed';
  const findings = stopping.length > 0 ? stopping : blocking;
  return { merged, outcome, rules: evaluation.rules, findings, unread };
}

export const OUTCOMES: readonly RuleOutcome[] = ['passed', 'failed', 'waiting', 'inactive', 'undecided'];

/** How often each rule had each outcome. */
export interface RuleTally {
  readonly rule: Policy['rules'][number];
  readonly counts: Readonly<Record<RuleOutcome, number>>;
}

export function tallyRules(policy: Policy, verdicts: readonly PastVerdict[]): readonly RuleTally[] {
  return policy.rules.map((rule, index) => {
    const counts = { passed: 0, failed: 0, waiting: 0, inactive: 0, undecided: 0 };
    for (const { rules } of verdicts) {
      counts[rules[index]?.outcome ?? 'undecided'] += 1;
    }
    return { rule, counts };
  });
}

/** What is judged as it is today: whatever is not fixed by the commits that were merged. CODEOWNERS is that of the branch. */
export function asOfToday(needs: Needs): readonly string[] {
  const isOfToday = (name: FactName) => FACTS[name].change !== 'commits' || name === 'codeOwners';
  const facts = FACT_NAMES.filter((name) => needs[name] !== undefined && isOfToday(name));
  return [...(needs.pullRequest ?? []), ...facts.map((name) => FACTS[name].unreadAs)];
}
