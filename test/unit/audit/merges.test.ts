import { type Outcome, outcomeOf } from '../../../src/audit/merges.ts';
import type { PostedStatus, StatusState } from '../../../src/forges/port/postings.ts';
import { NOTHING_REQUIRED } from '../../../src/review/verdict.ts';
import test from '../../helpers/test.ts';

const MERGED_AT = '2026-03-01T12:00:10Z';
const GREEN = 'All 3 rules that apply are met';

/** A status of ours, so many milliseconds after the merge's second began. */
const status = (state: StatusState, afterMs: number, description = GREEN): PostedStatus => ({
  context: 'gatehouse/main',
  own: true,
  creator: 'gatehouse',
  state,
  description,
  updatedAt: new Date(Date.parse(MERGED_AT) + afterMs).toISOString(),
});

const STATES: readonly [StatusState | undefined, Outcome][] = [
  ['success', 'passed'],
  ['failure', 'bypassed'],
  ['error', 'bypassed'],
  ['pending', 'bypassed'],
  [undefined, 'not judged'],
];

test('a merge is what the last status before its second says', (t) => {
  for (const [state, outcome] of STATES) {
    const own = state === undefined ? [] : [status(state, -1), status('success', -2), status('failure', -3)];
    t.is(outcomeOf(own, MERGED_AT), outcome, state);
    t.is(outcomeOf([status('success', 1_000), status('failure', 1_001), ...own], MERGED_AT), outcome, 'later ones');
  }
});

test('a merge never passed whose second has a success and anything else', (t) => {
  for (const [before] of STATES) {
    for (const [within, alone] of STATES) {
      const own = [...(within ? [status(within, 0)] : []), ...(before ? [status(before, -1)] : [])];
      const isMixed = (before === 'success') !== (within === 'success') && within !== undefined;
      t.is(
        outcomeOf(own, MERGED_AT),
        isMixed
          ? 'unclear'
          : before === undefined || within !== undefined
            ? alone
            : outcomeOf(own.slice(-1), MERGED_AT),
        `${before}, then ${within}`,
      );
    }
  }
  const three = [status('success', 999), status('failure', 500), status('success', -1)];
  t.is(outcomeOf(three, MERGED_AT), 'unclear', 'red for a moment');
  t.is(outcomeOf(three, '2026-03-01T12:00:10.700Z'), 'unclear', 'whatever a forge says of milliseconds');
  t.is(outcomeOf([status('failure', 500), status('pending', -1)], MERGED_AT), 'bypassed');
  t.is(outcomeOf([status('failure', 500)], MERGED_AT), 'bypassed');
});

test('of several successes of one second the one counts that says least', (t) => {
  const said: readonly (readonly [string, Outcome])[] = [
    [GREEN, 'passed'],
    ['1 rule overridden: urgent', 'overridden'],
    ['Not enforced: 1 rule would fail: title', 'not enforced'],
    [NOTHING_REQUIRED, 'not judged'],
  ];
  for (const [index, [less, outcome]] of said.entries()) {
    for (const [more] of said.slice(0, index + 1)) {
      t.is(outcomeOf([status('success', 0, less), status('success', -1, more)], MERGED_AT), outcome);
      t.is(outcomeOf([status('success', 0, more), status('success', -1, less)], MERGED_AT), outcome);
    }
  }
});
