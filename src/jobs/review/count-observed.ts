import type { Metrics } from '../../metrics.ts';
import type { Evaluation, RuleOutcome } from '../../review/evaluation/evaluation.ts';

const COUNTED: readonly RuleOutcome[] = ['passed', 'failed', 'waiting', 'undecided'];

type ObservedRules = Pick<Metrics, 'observedRules'>;

/** So that each outcome is on the metrics page from the start. */
export function countNoneObserved({ observedRules }: ObservedRules): void {
  for (const outcome of COUNTED) {
    observedRules.inc({ outcome }, 0);
  }
}

/** Counts the outcomes of the observed rules that apply. */
export function countObserved({ observedRules }: ObservedRules, evaluation: Evaluation | undefined): void {
  for (const { rule, outcome } of evaluation?.rules ?? []) {
    if (rule.level === 'observe' && COUNTED.includes(outcome)) {
      observedRules.inc({ outcome });
    }
  }
}
