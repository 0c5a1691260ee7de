import { pullRequestOf } from '../../../src/facts/pull-request.ts';
import type { Given } from '../../../src/review/cases/given.ts';
import { linksOf } from '../../../src/review/rendering/links.ts';
import test from '../../helpers/test.ts';
import { verdict } from './judge.ts';

const WEB = "require: { checks: { name: ['ci/web*', lint], is: [success, skipped], from: jenkins } }";

const CASES: readonly (readonly [rule: string, checks: NonNullable<Given['checks']>, description: string])[] = [
  [WEB, [], 'Waiting for the checks ci/web*, lint'],
  [WEB, [{ name: 'ci/web-1', by: 'jenkins' }], 'Waiting for the check lint'],
  [WEB, [{ name: 'ci/web-1', by: 'jenkins', state: 'failure' }], 'Waiting for the checks ci/web-1, lint'],
  ['when: { checks: { name: a } }, require: { title: x }', [], 'Waiting for the check a'],
  [
    'require: { checks: { name: [a, b, c] } }',
    [
      { name: 'a', state: 'skipped' },
      { name: 'b', state: 'neutral' },
    ],
    'Waiting for the checks a, b, c (a was skipped, b was neutral: run them again, or allow them with is: [success, skipped, neutral])',
  ],
  [
    'require: { checks: { all: true } }',
    [{ name: 'a', state: 'cancelled' }, { name: 'b' }],
    'Waiting for the check a (a was cancelled: run it again)',
  ],
  ['forbid: { checks: { name: a } }', [{ name: 'a' }], 'Waiting for another result of the check a'],
];

for (const [rule, checks, description] of CASES) {
  test(`a status says which checks it waits for: ${description.slice(0, 37)}`, (t) => {
    t.like(verdict(`version: 1\nrules: [{ id: it, ${rule} }]`, { checks }), { state: 'pending', description });
  });
}

const ALL = (more: string) => `version: 1\nrules: [{ id: it, require: { checks: { all: true${more} } } }]`;
const BUILT = { name: 'build', kind: 'check-run', by: 'actions[bot]' } as const;
const LINTED = { name: 'lint' };
type Check = NonNullable<Given['checks']>[number];
const built = (...others: readonly Check[]): Given => ({ checks: [BUILT, ...others] });
const suite = (by: string, state: string): Given => ({ ...built(), suites: [{ by, state }] });
const E2E_FAILED = { ...BUILT, name: 'e2e', state: 'failure' };

/** What is waited for; nothing where it is a success. */
const OF_ALL: readonly (readonly [what: string, more: string, given: Given, waitingFor?: string])[] = [
  ['nothing begun', '', {}, 'a first check'],
  ['only what is left out', ', but: build', built(), 'a first check'],
  ['all green', '', built({ ...LINTED, state: 'skipped' })],
  ['one open', '', built({ ...LINTED, state: 'pending' }), 'the check lint'],
  ['one failed', '', { checks: [{ ...BUILT, state: 'failure' }, LINTED] }, 'the check build'],
  ['one of no result known', '', { checks: [{ ...BUILT, state: 'odd' }] }, 'the check build'],
  ['one not reported', ', at_least: [build, e2e]', built(), 'the check e2e'],
  ['one that failed and is left out', ", but: 'e2e*'", built({ name: 'e2e 1', state: 'failure' })],
  ['a suite between two jobs', '', suite('actions[bot]', 'pending'), 'the check actions[bot]'],
  ['a suite that failed by itself', '', suite('actions[bot]', 'startup_failure'), 'the check actions[bot]'],
  ['a suite that its run explains', ', but: e2e', { ...suite('actions[bot]', 'failure'), ...built(E2E_FAILED) }],
  ['an empty suite', '', suite('idle[bot]', 'queued')],
  ['an empty suite that counts', ', empty_suites: wait', suite('idle[bot]', 'queued'), 'the check idle[bot]'],
  ['an empty suite that is named', ", at_least: 'idle[bot]'", suite('idle[bot]', 'queued'), 'the check idle[bot]'],
  ['a suite that is left out', ", but: 'slow[bot]'", suite('slow[bot]', 'pending')],
  ['what another reports', ', from: ci', { checks: [LINTED, { name: 'x', by: 'mallory', state: 'pending' }] }],
  ['a status that was replaced', '', { checks: [LINTED, { name: 'Lint', by: 'bob', state: 'failure' }] }],
  ['a run of one name in two workflows', '', built({ ...BUILT, state: 'failure' }), 'the check build'],
];

for (const [what, more, given, waitingFor] of OF_ALL) {
  test(`all checks: ${what} is ${waitingFor === undefined ? 'a success' : `waiting for ${waitingFor}`}`, (t) => {
    const { state, description } = verdict(ALL(more), given);
    t.is(state, waitingFor === undefined ? 'success' : 'pending');
    t.is(description, waitingFor === undefined ? 'The rule that applies is met' : `Waiting for ${waitingFor}`);
  });
}

test('all checks: more than could be read is an error', (t) => {
  t.is(verdict(ALL(''), { ...built(), checks_complete: false }).state, 'error');
});

test('the comment links to the page of a check, also where its address has no host', (t) => {
  const links = linksOf('gitea', pullRequestOf({}), { baseSha: 'a'.repeat(40) });
  const origin = new URL(pullRequestOf({}).url).origin;
  // As of Gitea's own Actions.
  t.is(links.page('/octo/site/actions/runs/1/jobs/0'), `${origin}/octo/site/actions/runs/1/jobs/0`);
  t.is(links.page('https://ci.test/1'), 'https://ci.test/1');
  for (const address of ['javascript:alert(1)', 'https://a:b@ci.test/', `https://ci.test/${'x'.repeat(10_000)}`]) {
    t.is(links.page(address), undefined);
  }
});
