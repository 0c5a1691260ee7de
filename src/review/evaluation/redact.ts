import { say } from '../text.ts';
import type { EvaluatedCondition, EvaluatedRule, Evaluation } from './evaluation.ts';

/**
 * An evaluation in which hidden rules say no more than their id, level, message and outcome: they come from a private
 * repository, and the pull request is public. Globs, patterns, names and the lines that they match would tell what is
 * in it.
 */
export function redacted(evaluation: Evaluation): Evaluation {
  return { ...evaluation, rules: evaluation.rules.map((rule) => (rule.rule.hidden ? redactedRule(rule) : rule)) };
}

function redactedRule({ rule, outcome, asIfReady }: EvaluatedRule): EvaluatedRule {
  const { example: _example, source, ...about } = rule;
  const { repository = '' } = source;
  const [owner = ''] = repository.split('/');
  const said = {
    rule: { ...about, source: { path: '', line: 1, repository: owner } },
    outcome,
    ...(asIfReady && { asIfReady }),
  };
  if (outcome === 'passed' || outcome === 'inactive') {
    return said;
  }
  const remedy = say`Ask those who maintain the policies of ${owner}: what the rule asks for is not public.`;
  const require: EvaluatedCondition = {
    kind: 'predicate',
    name: 'private',
    line: 1,
    actor: outcome === 'waiting' ? 'others' : 'author',
    outcome: outcome === 'undecided' ? 'undecided' : 'unmatched',
    expected: say`the rule ${rule.id}`,
    found: outcome === 'undecided' ? say`it could not be judged` : say`it is not met`,
    locations: [],
    remedy: { toMatch: remedy, toAvoid: remedy },
  };
  return { ...said, require };
}
