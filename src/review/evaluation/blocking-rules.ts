import type { EvaluatedRule, Evaluation } from './evaluation.ts';

/** The rules that keep a verdict from being a success. */
export function blockingRules({ rules, ended }: Evaluation): readonly EvaluatedRule[] {
  return rules.filter(
    ({ rule: { level }, outcome }) =>
      (level === 'error' || (ended && level !== 'observe')) && outcome !== 'passed' && outcome !== 'inactive',
  );
}
