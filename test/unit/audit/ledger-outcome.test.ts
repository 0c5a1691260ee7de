import test from 'ava';
import type { LedgerVerdict } from '../../../src/audit/ledger/entry.ts';
import { type MergedFacts, outcomeOf, type VerdictsThen } from '../../../src/audit/ledger/outcome.ts';

const verdict = (state: string, at = 0, more: Partial<LedgerVerdict> = {}): LedgerVerdict => ({
  state,
  answeredAt: new Date(at).toISOString(),
  enforced: true,
  approvals: [],
  overrides: [],
  ...more,
});
const NONE: VerdictsThen = { before: undefined, around: [], successPostedAt: undefined };
const FACTS: MergedFacts = { policy: 'present', enforce: true, watched: true };
const outcome = (then: Partial<VerdictsThen>, facts: Partial<MergedFacts> = {}) =>
  outcomeOf({ ...NONE, ...then }, { ...FACTS, ...facts }).outcome;

test('a merge is what the verdict before it says', (t) => {
  const overrides = [{ rule: 'title', login: 'bob' }];
  t.is(outcome({ before: verdict('success') }), 'passed');
  t.is(outcome({ before: verdict('success', 0, { overrides }) }), 'overridden');
  t.is(outcome({ before: verdict('none') }), 'no policy');
  for (const state of ['failure', 'pending', 'error']) {
    t.is(outcome({ before: verdict(state) }), 'bypassed', state);
    t.is(outcome({ before: verdict(state, 0, { enforced: false }) }), 'not enforced', state);
  }
  t.is(outcome({ before: verdict('success', 0, { enforced: false }) }), 'not enforced');
});

test('without a verdict nothing has passed', (t) => {
  t.is(outcome({}), 'bypassed');
  t.is(outcome({}, { policy: 'absent' }), 'no policy');
  t.is(outcome({}, { policy: undefined }), 'unknown');
  t.is(outcome({}, { enforce: false }), 'not enforced');
  t.is(outcome({}, { watched: false }), 'not watched then');
});

test('a success in the moment of the merge counts only if it was posted before', (t) => {
  const around = [verdict('success', 1_000)];
  t.is(outcome({ around }), 'unknown');
  t.is(outcome({ around, successPostedAt: new Date(999).toISOString() }), 'unknown');
  t.is(outcome({ around, successPostedAt: new Date(1_001).toISOString() }), 'passed');
  const before = verdict('failure');
  t.is(outcome({ before, around }), 'unknown');
  t.is(outcome({ before, around, successPostedAt: new Date(1_001).toISOString() }), 'passed');
});

test('a failure in the moment of the merge leaves no success', (t) => {
  const around = [verdict('failure', 1_000)];
  t.is(outcome({ around }), 'bypassed');
  t.is(outcome({ before: verdict('pending'), around }), 'bypassed');
  t.is(outcome({ before: verdict('success'), around }), 'unknown');
  t.is(outcome({ before: verdict('success'), around, successPostedAt: new Date(500).toISOString() }), 'unknown');
});

test('verdicts that agree need no order', (t) => {
  const around = [verdict('success', 1_000), verdict('success', 3_000)];
  t.is(outcome({ around }), 'unknown');
  t.is(outcome({ around, successPostedAt: new Date(1_001).toISOString() }), 'passed');
  const failed = [verdict('success', 1_000), verdict('failure', 2_000), verdict('success', 3_000)];
  t.is(outcome({ around: failed, successPostedAt: new Date(1_001).toISOString() }), 'unknown');
  t.is(outcome({ before: verdict('success'), around: [verdict('success', 1_000)] }), 'passed');
});

test('a merge that no success came before has not passed', (t) => {
  const states = ['failure', 'pending', 'error', 'none'];
  for (const first of states) {
    for (const second of states) {
      for (const posted of [undefined, new Date(9_000).toISOString()]) {
        const then = { before: verdict(first), around: [verdict(second, 1_000)], successPostedAt: posted };
        t.not(outcome(then), 'passed');
        t.not(outcome({ ...then, before: undefined }), 'passed');
      }
    }
  }
});
