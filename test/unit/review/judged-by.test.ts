import test from 'ava';
import type { PullRequestNow } from '../../../src/forges/port/pull-request.ts';
import { factsOf } from '../../../src/review/cases/given.ts';
import {
  type Difference,
  firstDifference,
  type JudgedBy,
  type Present,
  pullRequestDigest,
} from '../../../src/review/judged-by.ts';

const PULL_REQUEST: PullRequestNow = {
  ...factsOf({ title: 'A change' }).pullRequest,
  baseCommit: 'base',
  differenceBase: 'from',
  commentCount: 0,
  changedFileCount: 1,
};

const JUDGED: JudgedBy = {
  pullRequest: pullRequestDigest(PULL_REQUEST),
  baseSha: 'base',
  policyDigest: 'policy',
  extendsName: 'acme/shared@main',
  extendsDigest: 'extended',
  baselineDigest: 'baseline',
  codeOwnersDigest: 'owners',
  checksDigest: 'checks',
  conversationsDigest: 'conversations',
  traitsDigest: 'traits',
  triageDigest: 'triage',
  machineAccountsDigest: 'bots',
  alone: { differenceBase: 'from', gatehouse: 'version 1', comments: 'comments' },
};

const PRESENT: Present = {
  pullRequest: PULL_REQUEST,
  baseCommit: async () => 'base',
  atBase: { policy: async () => 'policy', codeOwners: async () => 'owners' },
  operatorPolicy: 'operator',
  machineAccounts: 'bots',
  extended: async () => 'extended',
  checks: async () => 'checks',
  conversations: async () => 'conversations',
  traits: async () => 'traits',
  triage: async () => 'triage',
  baseline: async () => 'baseline',
  gatehouse: 'version 1',
};

const moved = async () => 'moved';

const { policyDigest: _own, ...others } = JUDGED;
const WITHOUT_OWN: JudgedBy = { ...others, operatorPolicyDigest: 'operator' };

const CHANGES: readonly (readonly [Difference, Partial<Present>, JudgedBy?])[] = [
  ['pull request', { pullRequest: { ...PULL_REQUEST, title: 'Another' } }],
  ['gatehouse', { gatehouse: 'version 2' }],
  ['gatehouse', { pullRequest: { ...PULL_REQUEST, differenceBase: 'another' } }],
  ['machine accounts', { machineAccounts: 'more bots' }],
  ['operator’s policy', { operatorPolicy: undefined }, WITHOUT_OWN],
  ['base branch', { baseCommit: async () => undefined }],
  ['policy', { baseCommit: moved, atBase: { policy: async () => undefined, codeOwners: async () => 'owners' } }],
  ['CODEOWNERS', { baseCommit: moved, atBase: { policy: async () => 'policy', codeOwners: async () => 'others' } }],
  ['extended policy', { extended: async () => undefined }],
  ['checks', { checks: async () => 'others' }],
  ['conversations', { conversations: async () => 'others' }],
  ['repository settings', { traits: async () => 'others' }],
  ['triage', { triage: async () => 'others' }],
  ['baseline', { baseline: async () => undefined }],
];

test('what is as it was judged has no difference, nor has what is not compared', async (t) => {
  t.is(await firstDifference(JUDGED, PRESENT), undefined);
  t.is(await firstDifference(JUDGED, { ...PRESENT, baseCommit: moved }), undefined, 'the rules did not move');
  const { pullRequest: _one, checks: _two, extended: _three, gatehouse: _four, ...more } = PRESENT;
  const { conversations: _five, traits: _six, triage: _seven, ...others } = more;
  t.is(
    await firstDifference(
      {
        ...JUDGED,
        pullRequest: 'x',
        checksDigest: 'x',
        conversationsDigest: 'x',
        traitsDigest: 'x',
        triageDigest: 'x',
        extendsDigest: 'x',
      },
      others,
    ),
    undefined,
  );
});

for (const [difference, now, judged = JUDGED] of CHANGES) {
  test(`no verdict stands if this differs: ${difference}, by ${Object.keys(now)}`, async (t) => {
    t.is(await firstDifference(judged, { ...PRESENT, ...now }), difference);
  });
}

test('check suites are compared where they were read, and only there', async (t) => {
  const now: Present = { ...PRESENT, checks: async ({ suites }) => (suites ? 'with suites' : 'checks') };
  t.is(await firstDifference(JUDGED, now), undefined);
  t.is(await firstDifference({ ...JUDGED, asksSuites: true }, now), 'checks');
  t.is(await firstDifference({ ...JUDGED, asksSuites: true, checksDigest: 'with suites' }, now), undefined);
});

test('a verdict that does not stand alone is never used again', async (t) => {
  const { alone: _alone, ...more } = JUDGED;
  t.is(await firstDifference(more, PRESENT), 'gatehouse');
});

test('a base branch that moved is a difference where its rules are not read', async (t) => {
  const { atBase: _atBase, ...others } = PRESENT;
  t.is(await firstDifference(JUDGED, { ...others, baseCommit: moved }), 'base branch');
  t.is(await firstDifference(JUDGED, others), undefined);
});

test('what costs no request is compared first, and the baseline last', async (t) => {
  const read: string[] = [];
  const reading = (name: string, value: string) => async () => {
    read.push(name);
    return value;
  };
  const all: Present = {
    ...PRESENT,
    baseCommit: reading('base', 'moved'),
    atBase: { policy: reading('policy', 'policy'), codeOwners: reading('owners', 'owners') },
    extended: reading('extended', 'extended'),
    checks: reading('checks', 'checks'),
    baseline: reading('baseline', 'another'),
  };
  t.is(await firstDifference(JUDGED, { ...all, gatehouse: 'version 2' }), 'gatehouse');
  t.deepEqual(read, []);
  t.is(await firstDifference(JUDGED, all), 'baseline');
  t.deepEqual([...new Set(read)], ['base', 'policy', 'owners', 'extended', 'checks', 'baseline']);
});
