import { sameContext, statusContext } from '../../../src/forges/port/status-context.ts';
import { wantedStatus } from '../../../src/jobs/publisher/wanted-status.ts';
import type { HeadVerdict, PlaceRow } from '../../../src/jobs/tables/statuses.ts';
import { meaningOfSuccess, NOTHING_REQUIRED } from '../../../src/review/verdict.ts';
import test from '../../helpers/test.ts';

test('the base branch takes the place of every {base}', (t) => {
  t.is(statusContext('gatehouse/{base}', 'release/1.x'), 'gatehouse/release/1.x');
  t.is(statusContext('{base} as {base}', '$&'), '$& as $&');
  t.is(statusContext('review', 'main'), 'review');
});

test('a name over 255 characters is cut and ends in a digest, which ignores case', (t) => {
  const branch = 'x'.repeat(300);
  const context = statusContext('gatehouse/{base}', `${branch}a`);
  t.is(context.length, 255);
  t.not(context, statusContext('gatehouse/{base}', `${branch}b`));
  t.true(sameContext('github', context, statusContext('gatehouse/{base}', `${branch}A`)));
  t.is(statusContext('{base}', '🏠'.repeat(255)).length, 255);
});

type State = HeadVerdict['verdict'];

function verdict(number: number, state: State, description: string = `${state}`, baseBranch = 'main'): HeadVerdict {
  const url = `https://forge.test/${number}`;
  return {
    number,
    url,
    baseBranch,
    verdict: state,
    description,
    dryRun: `Not enforced: ${description}`,
    isJudged: true,
  };
}

/** A place where a success was posted. */
const GREEN: PlaceRow = {
  ...{ key: 'gatehouse/main', context: 'gatehouse/main', state: 'success', description: 'success', posting: 1 },
  ...{
    isUnderWay: false,
    isKnown: true,
    canBeKnown: false,
    judgedBase: 'main',
    merged: false,
    group: null,
    uncounted: false,
  },
  ...{ takes: 'all', postedAt: 0 },
};
const RED: PlaceRow = { ...GREEN, state: 'failure', description: 'failure' };
const UNKNOWN: PlaceRow = { ...GREEN, state: null, description: null, isKnown: false, canBeKnown: true };

/** As a publisher asks, where a success may stand by the row alone. */
function wanted(verdicts: readonly HeadVerdict[], row?: PlaceRow, enforce = true) {
  return wantedStatus({ verdicts, row }, row?.state === 'success' || row?.isKnown === false, enforce);
}

const stateOf = (...args: Parameters<typeof wanted>) => wanted(...args)?.state;

test('the worst verdict is shown: failure, error, pending, success', (t) => {
  const all = [verdict(1, 'success'), verdict(2, 'pending'), verdict(3, 'error'), verdict(4, 'failure')];
  for (const [count, state] of (['success', 'pending', 'error', 'failure'] as const).entries()) {
    t.is(stateOf(all.slice(0, count + 1)), state);
  }
});

test('one verdict is shown as it is, and none is no status', (t) => {
  t.deepEqual(wanted([verdict(1, 'success', 'All is well')]), {
    state: 'success',
    description: 'All is well',
    targetUrl: 'https://forge.test/1',
    judgedBase: 'main',
  });
  t.is(wanted([verdict(2, 'none')]), undefined);
  t.is(wanted([]), undefined);
});

test('before there is a verdict, only what may be green is taken back', (t) => {
  for (const row of [undefined, RED]) {
    t.is(stateOf([verdict(1, null)], row), undefined);
  }
  for (const row of [GREEN, UNKNOWN]) {
    t.is(stateOf([verdict(1, null)], row), 'pending');
  }
  t.is(stateOf([verdict(1, 'success'), verdict(2, null)], GREEN), 'pending', 'a twin is to be judged first');
  t.is(stateOf([verdict(1, null)], GREEN, false), undefined, 'nothing is enforced');
});

test('a success that nobody earns any more is taken back, unless it was merged', (t) => {
  for (const row of [GREEN, UNKNOWN]) {
    t.deepEqual([stateOf([], row), stateOf([], { ...row, merged: true })], ['pending', undefined]);
  }
  t.is(stateOf([], RED), undefined);
  t.is(wantedStatus({ verdicts: [], row: undefined }, true, true)?.state, 'pending', 'nobody remembers it');
});

test('no success is shown while a pull request with the commit is judged by no policy', (t) => {
  for (const state of ['success', 'pending', 'error', 'failure'] as const) {
    t.is(stateOf([verdict(1, state), verdict(2, 'none')]), state === 'success' ? 'error' : state);
  }
  t.is(stateOf([verdict(1, 'success'), verdict(2, 'none')], undefined, false), 'success');
});

test('a policy that is gone frees those whom its verdict has blocked, and nobody else', (t) => {
  const free = [verdict(1, 'none')];
  t.deepEqual(wanted(free, RED)?.description, NOTHING_REQUIRED);
  t.is(stateOf(free, GREEN), undefined);
  t.is(stateOf(free, UNKNOWN), 'success');
  for (const row of [RED, GREEN]) {
    t.is(stateOf(free, { ...row, judgedBase: null }), 'pending', 'it could not be read, and nothing was judged');
    t.is(stateOf([verdict(1, 'none', '', 'next')], row), 'pending', 'the success of another branch');
  }
  t.is(stateOf(free, { ...RED, posting: 0, state: null }), undefined, 'Gatehouse has said nothing');
});

test('a merge group has its verdict on its commit, the worse one where a pull request has it too', (t) => {
  const group = (state: 'success' | 'failure') => ({ ...GREEN, group: { state, description: 'the group' } });
  t.deepEqual(wanted([], group('failure')), { state: 'failure', description: 'the group' });
  t.is(stateOf([verdict(1, 'failure')], group('success')), 'failure');
  t.is(stateOf([verdict(1, 'success')], group('failure')), 'failure');
  t.is(stateOf([verdict(1, 'none')], group('success')), 'success');
  t.deepEqual(wanted([], group('failure'), false), { state: 'success', description: 'Not enforced: the group' });
});

test('a commit that takes no more statuses gets none, and one that nearly does no success', (t) => {
  t.is(wanted([verdict(1, 'failure')], { ...GREEN, takes: 'nothing' }), undefined);
  for (const state of ['success', 'failure'] as const) {
    const { state: shown, description } = wanted([verdict(1, state)], { ...GREEN, takes: 'no success' }) ?? {};
    t.deepEqual([shown, /push a new commit/.test(description ?? '')], ['error', true]);
    t.regex(
      wanted([verdict(1, state)], { ...GREEN, takes: 'no success' }, false)?.description ?? '',
      /^Not enforced\. This/,
    );
  }
});

test('others are named in at most 140 characters, however many there are', (t) => {
  const many = Array.from({ length: 9 }, (_, index) => verdict(index + 1, 'failure', 'x'.repeat(140)));
  const description = wanted(many)?.description ?? '';
  t.is(description.length, 140);
  t.regex(description, /^#1: x+… \(#2, #3, #4 and 5 more have this commit too\)$/);
});

test('without enforcement the worst verdict is shown as a success that says so', (t) => {
  const all = [verdict(1, 'success'), verdict(2, 'failure', '1 of 1 rule failed: small')];
  t.like(wanted(all, undefined, false), {
    state: 'success',
    description: '#2: Not enforced: 1 of 1 rule failed: small (#1 has this commit too)',
  });
  t.like(wanted([{ ...verdict(3, 'error', 'Could not be reviewed'), dryRun: null }], undefined, false), {
    state: 'success',
    description: 'Not enforced: Could not be reviewed',
  });
  t.is(wanted([verdict(2, 'none')], undefined, false), undefined);
});

test('what a success means can be told however many pull requests share it', (t) => {
  const overridden = verdict(1, 'success', '1 rule overridden: urgent');
  const passed = verdict(2, 'success', 'All 2 rules that apply are met');
  const meaning = (verdicts: readonly HeadVerdict[], enforce = true) =>
    meaningOfSuccess(wanted(verdicts, undefined, enforce)?.description ?? '');
  t.deepEqual([meaning([overridden]), meaning([overridden, passed])], ['overridden', 'overridden']);
  t.deepEqual([meaning([passed]), meaning([passed, verdict(3, 'success')])], ['passed', 'passed']);
  t.deepEqual([meaning([passed], false), meaning([passed, overridden], false)], ['not enforced', 'not enforced']);
});
