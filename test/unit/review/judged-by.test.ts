import { factsOf } from '../../../src/facts/table.ts';
import type { PullRequestNow } from '../../../src/forges/port/pull-request.ts';
import {
  type Difference,
  firstDifference,
  JUDGED_BY_FORMAT,
  type JudgedBy,
  type Present,
  pullRequestDigest,
} from '../../../src/review/judged-by.ts';
import test from '../../helpers/test.ts';

const PULL_REQUEST: PullRequestNow = {
  ...factsOf({ title: 'A change' }).pullRequest,
  baseCommit: 'base',
  differenceBase: 'from',
  commentCount: 0,
  changedFileCount: 1,
};

const JUDGED: JudgedBy = {
  format: JUDGED_BY_FORMAT,
  pullRequest: pullRequestDigest(PULL_REQUEST),
  baseSha: 'base',
  policyDigest: 'policy',
  extendsName: 'acme/shared@main',
  extendsDigest: 'extended',
  baselineDigest: 'baseline',
  codeOwnersDigest: 'owners',
  facts: { checks: { digest: 'checks', parts: [] }, triage: { digest: 'triage', parts: ['milestone'] } },
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
  fact: async (name) => name,
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
  ['facts', { fact: async (name) => (name === 'checks' ? 'others' : name) }],
  ['baseline', { baseline: async () => undefined }],
];

test('what is as it was judged has no difference, nor has what is not compared', async (t) => {
  t.is(await firstDifference(JUDGED, PRESENT), undefined);
  t.is(await firstDifference(JUDGED, { ...PRESENT, baseCommit: moved }), undefined, 'the rules did not move');
  const { pullRequest: _one, fact: _two, extended: _three, gatehouse: _four, ...others } = PRESENT;
  const compared = { pullRequest: 'x', facts: { checks: { digest: 'x', parts: [] } }, extendsDigest: 'x' };
  t.is(await firstDifference({ ...JUDGED, ...compared }, others), undefined);
});

for (const [difference, now, judged = JUDGED] of CHANGES) {
  test(`no verdict stands if this differs: ${difference}, by ${Object.keys(now)}`, async (t) => {
    t.is(await firstDifference(judged, { ...PRESENT, ...now }), difference);
  });
}

test('a fact is read again for the parts that it was read for', async (t) => {
  const now: Present = { ...PRESENT, fact: async (name, parts) => [name, ...parts].join(' ') };
  const judged = (parts: readonly string[], digest: string) => ({ ...JUDGED, facts: { checks: { digest, parts } } });
  t.is(await firstDifference(judged([], 'checks'), now), undefined);
  t.is(await firstDifference(judged(['suites'], 'checks'), now), 'facts');
  t.is(await firstDifference(judged(['suites'], 'checks suites'), now), undefined);
});

test('no verdict stands that was stored in another form, or with a fact that is none', async (t) => {
  t.is(await firstDifference({ ...JUDGED, format: JUDGED_BY_FORMAT - 1 }, PRESENT), 'format');
  const stored: JudgedBy = JSON.parse(JSON.stringify({ ...JUDGED, facts: { gone: { digest: 'gone', parts: [] } } }));
  t.is(await firstDifference(stored, PRESENT), 'facts');
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
    fact: (name) => reading(name, name)(),
    baseline: reading('baseline', 'another'),
  };
  t.is(await firstDifference(JUDGED, { ...all, gatehouse: 'version 2' }), 'gatehouse');
  t.deepEqual(read, []);
  t.is(await firstDifference(JUDGED, all), 'baseline');
  t.deepEqual([...new Set(read)], ['base', 'policy', 'owners', 'extended', 'checks', 'triage', 'baseline']);
});

test('the digest of a pull request is the same in whatever order it was built', (t) => {
  const built = { ...PULL_REQUEST, labels: ['one', 'two'] };
  const { title, head, ...others } = built;
  const { sha, ...branch } = head;
  const rebuilt = { ...others, head: { ...branch, sha }, labels: ['two', 'one'], title };
  t.is(pullRequestDigest(rebuilt), pullRequestDigest(built));
  t.not(pullRequestDigest({ ...built, labels: ['one'] }), pullRequestDigest(built));
});
