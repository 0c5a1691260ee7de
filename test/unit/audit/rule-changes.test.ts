import { ruleChanges, type StoredRule, storedRules } from '../../../src/audit/rule-changes.ts';
import type { RecordedRule } from '../../../src/audit/verdict-record.ts';
import test from '../../helpers/test.ts';

const rule = (outcome: RecordedRule['outcome'], id = 'title'): RecordedRule => ({
  id,
  outcome,
  level: 'error',
  source: { path: '.gatehouse.yml', line: 1 },
});
const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute));

/** What a series of verdicts, one a minute, says of one rule. */
function changes(outcomes: readonly (RecordedRule['outcome'] | undefined)[]) {
  let before: readonly StoredRule[] = [];
  return outcomes.map((outcome, minute) => {
    const rules = outcome === undefined ? [] : [rule(outcome)];
    const state = { rules: before, overridden: [] };
    const found = ruleChanges({ rules, overrides: [] }, state, at(minute));
    before = storedRules(rules, state, at(minute));
    return found.map(({ change, seconds }) => (seconds === null ? change : `${change} after ${seconds}`)).join();
  });
}

test('a rule that fails and then holds has failed once, and passed after a time', (t) => {
  t.deepEqual(changes(['failed', 'failed', 'passed', 'passed']), ['failed', '', 'passed after 120', '']);
});

test('a rule that waits counts until it holds, and has not failed', (t) => {
  t.deepEqual(changes(['waiting', 'undecided', 'passed']), ['', '', 'passed after 120']);
});

test('a rule that fails again after it held is counted again', (t) => {
  t.deepEqual(changes(['failed', 'passed', 'failed']), ['failed', 'passed after 60', 'failed']);
});

test('a rule that no longer applies has not passed', (t) => {
  t.deepEqual(changes(['failed', 'inactive', 'passed']), ['failed', '', '']);
  t.deepEqual(changes(['failed', undefined, 'passed']), ['failed', '', '']);
});

test('an override is counted once as long as it stands', (t) => {
  const overrides = [{ rule: 'title', login: 'ann', reason: 'hotfix 4711', comment: '7', at: '2026-01-02T03:04:05Z' }];
  const rules = [rule('passed')];
  t.deepEqual(ruleChanges({ rules, overrides }, { rules, overridden: [] }, at(0)), [
    { rule: 'title', change: 'overridden', seconds: null },
  ]);
  t.deepEqual(ruleChanges({ rules, overrides }, { rules, overridden: ['title'] }, at(0)), []);
});

test('of an observed rule each change is counted apart, until its level is another', (t) => {
  const observed = (outcome: RecordedRule['outcome']): RecordedRule => ({ ...rule(outcome), level: 'observe' });
  const series = [
    [observed('waiting'), 'would-wait'],
    [observed('failed'), 'would-fail'],
    [observed('failed'), ''],
    [rule('failed'), 'failed'],
    [observed('failed'), 'would-fail'],
    [rule('passed'), ''],
    [observed('undecided'), 'not-judged'],
    [observed('inactive'), ''],
    [observed('passed'), 'would-pass'],
    [observed('passed'), ''],
  ] as const;
  let before: readonly StoredRule[] = [];
  for (const [index, [now, expected]] of series.entries()) {
    const state = { rules: before, overridden: [] };
    const found = ruleChanges({ rules: [now], overrides: [] }, state, at(index));
    t.is(found.map(({ change }) => change).join(), expected, `${index}`);
    before = storedRules([now], state, at(index));
  }
});
