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

const ALL = (more = '') => `version: 1\nrules: [{ id: it, require: { checks: { all: true${more} } } }]`;
const BUILT = { name: 'build', kind: 'check-run', by: 'actions[bot]' } as const;

const OF_ALL: readonly (readonly [what: string, more: string, given: Given, state: string, description?: string])[] = [
  ['nothing begun', '', {}, 'pending', 'Waiting for a first check'],
  ['only what is left out', ', but: build', { checks: [BUILT] }, 'pending', 'Waiting for a first check'],
  ['all green', '', { checks: [BUILT, { name: 'lint', state: 'skipped' }] }, 'success'],
  ['one open', '', { checks: [BUILT, { name: 'lint', state: 'pending' }] }, 'pending', 'Waiting for the check lint'],
  [
    'one failed',
    '',
    { checks: [{ ...BUILT, state: 'failure' }, { name: 'lint' }] },
    'pending',
    'Waiting for the check build',
  ],
  ['one of no result known', '', { checks: [{ ...BUILT, state: 'odd' }] }, 'pending', 'Waiting for the check build'],
  ['one not reported', ', at_least: [build, e2e]', { checks: [BUILT] }, 'pending', 'Waiting for the check e2e'],
  [
    'one that failed and is left out',
    ", but: 'e2e*'",
    { checks: [BUILT, { name: 'e2e 1', state: 'failure' }] },
    'success',
  ],
  [
    'a suite between two jobs',
    '',
    { checks: [BUILT], suites: [{ by: 'actions[bot]', state: 'pending' }] },
    'pending',
    'Waiting for the check actions[bot]',
  ],
  [
    'a suite that failed by itself',
    '',
    { checks: [BUILT], suites: [{ by: 'actions[bot]', state: 'startup_failure' }] },
    'pending',
    'Waiting for the check actions[bot]',
  ],
  [
    'a suite that its run explains',
    ', but: e2e',
    {
      checks: [BUILT, { ...BUILT, name: 'e2e', state: 'failure' }],
      suites: [{ by: 'actions[bot]', state: 'failure' }],
    },
    'success',
  ],
  ['an empty suite', '', { checks: [BUILT], suites: [{ by: 'idle[bot]', state: 'queued' }] }, 'success'],
  [
    'an empty suite that counts',
    ', empty_suites: wait',
    { checks: [BUILT], suites: [{ by: 'idle[bot]', state: 'queued' }] },
    'pending',
    'Waiting for the check idle[bot]',
  ],
  [
    'an empty suite that is named',
    ", at_least: 'idle[bot]'",
    { checks: [BUILT], suites: [{ by: 'idle[bot]', state: 'queued' }] },
    'pending',
    'Waiting for the check idle[bot]',
  ],
  [
    'a suite that is left out',
    ", but: 'slow[bot]'",
    { checks: [BUILT], suites: [{ by: 'slow[bot]', state: 'pending' }] },
    'success',
  ],
  [
    'what somebody else reports',
    ', from: ci',
    { checks: [{ name: 'lint' }, { name: 'x', by: 'mallory', state: 'pending' }] },
    'success',
  ],
  [
    'a status that was replaced',
    '',
    { checks: [{ name: 'lint' }, { name: 'Lint', by: 'bob', state: 'failure' }] },
    'success',
  ],
  [
    'a run of one name in two workflows',
    '',
    { checks: [BUILT, { ...BUILT, state: 'failure' }] },
    'pending',
    'Waiting for the check build',
  ],
  ['more than could be read', '', { checks: [BUILT], checks_complete: false }, 'error'],
];

for (const [what, more, given, state, description] of OF_ALL) {
  test(`all checks: ${what} is ${state}`, (t) => {
    t.like(verdict(ALL(more), given), description === undefined ? { state } : { state, description });
  });
}

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
