import { sameContext, statusContext } from '../../../src/forges/port/status-context.ts';
import { sharedStatus } from '../../../src/jobs/review/shared-status.ts';
import type { HeadVerdict } from '../../../src/jobs/tables/reviews.ts';
import { meaningOfSuccess } from '../../../src/review/verdict.ts';
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

function verdict(number: number, state: HeadVerdict['state'], description: string = state): HeadVerdict {
  return { number, url: `https://forge.test/${number}`, state, description, dryRun: `Not enforced: ${description}` };
}

test('the worst verdict is shown: failure, error, pending, success', (t) => {
  const all = [verdict(1, 'success'), verdict(2, 'pending'), verdict(3, 'error'), verdict(4, 'failure')];
  for (const [count, state] of (['success', 'pending', 'error', 'failure'] as const).entries()) {
    t.is(sharedStatus(all.slice(0, count + 1), true)?.state, state);
  }
});

test('one verdict is shown as it is, and none is no status', (t) => {
  t.deepEqual(sharedStatus([verdict(1, 'success', 'All is well')], true), {
    state: 'success',
    description: 'All is well',
    targetUrl: 'https://forge.test/1',
  });
  t.is(sharedStatus([verdict(2, 'none')], true), undefined);
  t.is(sharedStatus([], true), undefined);
});

test('no success is shown while a pull request with the commit is judged by no policy', (t) => {
  for (const state of ['success', 'pending', 'error', 'failure'] as const) {
    const shown = sharedStatus([verdict(1, state), verdict(2, 'none')], true);
    t.is(shown?.state, state === 'success' ? 'error' : state);
  }
  t.is(sharedStatus([verdict(1, 'success'), verdict(2, 'none')], false)?.state, 'success');
});

test('others are named in at most 140 characters, however many there are', (t) => {
  const many = Array.from({ length: 9 }, (_, index) => verdict(index + 1, 'failure', 'x'.repeat(140)));
  const description = sharedStatus(many, true)?.description ?? '';
  t.is(description.length, 140);
  t.regex(description, /^#1: x+… \(#2, #3, #4 and 5 more have this commit too\)$/);
});

test('without enforcement the worst verdict is shown as a success that says so', (t) => {
  const all = [verdict(1, 'success'), verdict(2, 'failure', '1 of 1 rule failed: small')];
  t.like(sharedStatus(all, false), {
    state: 'success',
    description: '#2: Not enforced: 1 of 1 rule failed: small (#1 has this commit too)',
  });
  t.like(sharedStatus([{ ...verdict(3, 'error', 'Could not be reviewed'), dryRun: null }], false), {
    state: 'success',
    description: 'Not enforced: Could not be reviewed',
  });
  t.is(sharedStatus([verdict(2, 'none')], false), undefined);
});

test('what a success means can be told however many pull requests share it', (t) => {
  const overridden = verdict(1, 'success', '1 rule overridden: urgent');
  const passed = verdict(2, 'success', 'All 2 rules that apply are met');
  const meaning = (verdicts: readonly HeadVerdict[], enforce = true) =>
    meaningOfSuccess(sharedStatus(verdicts, enforce)?.description ?? '');
  t.deepEqual([meaning([overridden]), meaning([overridden, passed])], ['overridden', 'overridden']);
  t.deepEqual([meaning([passed]), meaning([passed, verdict(3, 'success')])], ['passed', 'passed']);
  t.deepEqual([meaning([passed], false), meaning([passed, overridden], false)], ['not enforced', 'not enforced']);
});
