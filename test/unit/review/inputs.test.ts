import { pullRequestOf } from '../../../src/facts/pull-request.ts';
import type { Forge } from '../../../src/forges/port/forge.ts';
import type { PullRequestNow } from '../../../src/forges/port/pull-request.ts';
import { inputsDigest, isCurrent, pullRequestDigest } from '../../../src/review/inputs.ts';
import { NO_OPERATOR_POLICIES } from '../../helpers/policies.ts';
import test from '../../helpers/test.ts';

const PULL_REQUEST: PullRequestNow = {
  ...pullRequestOf({ title: 'A change' }),
  baseCommit: 'base',
  differenceBase: 'from',
  commentCount: 0,
  changedFileCount: 1,
};
const RULES = { format: 1, baseSha: 'base', policyDigest: 'policy' };
const WITH = { version: '1', revision: 'a', enforce: true, statusContext: 'gatehouse/{base}' };

const digest = (now: Partial<PullRequestNow> = {}, rules = RULES, judgedWith = WITH) =>
  inputsDigest({ pullRequest: { ...PULL_REQUEST, ...now }, rules }, judgedWith);

for (const [what, other] of [
  ['title', digest({ title: 'Another' })],
  ['head', digest({ head: { ...PULL_REQUEST.head, sha: 'other' } })],
  ['base branch', digest({ base: { branch: 'stable' } })],
  ['commit that its difference is taken from', digest({ differenceBase: 'another' })],
  ['policy', digest({}, { ...RULES, policyDigest: 'other' })],
  ['ENFORCE', digest({}, RULES, { ...WITH, enforce: false })],
  ['STATUS_CONTEXT', digest({}, RULES, { ...WITH, statusContext: 'review' })],
  ['version', digest({}, RULES, { ...WITH, version: '2' })],
  ['build', digest({}, RULES, { ...WITH, revision: 'b' })],
] as const) {
  test(`no verdict stands by itself under another ${what}`, (t) => {
    t.not(other, digest());
    t.regex(other ?? '', /^[0-9a-f]{64}$/);
  });
}

test('a verdict stands by itself where only the tip of the base, the comments or the time differ', (t) => {
  t.is(digest({ baseCommit: 'moved', commentCount: 7, updatedAt: '2026-05-05T00:00:00Z' }), digest());
  t.is(digest({}, { ...RULES, baseSha: 'moved' }), digest());
});

test('none stands by itself where it is not known what its difference is taken from', (t) => {
  t.is(digest({ differenceBase: undefined }), undefined);
});

test('the digest of a pull request is the same in whatever order it was built', (t) => {
  const built = { ...PULL_REQUEST, labels: ['one', 'two'] };
  const { title, head, ...others } = built;
  const { sha, ...branch } = head;
  const rebuilt = { ...others, head: { ...branch, sha }, labels: ['two', 'one'], title };
  t.is(pullRequestDigest(rebuilt), pullRequestDigest(built));
  t.not(pullRequestDigest({ ...built, labels: ['one'] }), pullRequestDigest(built));
});

for (const [what, now, isSame] of [
  ['is as it was', PULL_REQUEST, true],
  ['has more comments', { ...PULL_REQUEST, commentCount: 3 }, true],
  ['has another title', { ...PULL_REQUEST, title: 'Another' }, false],
  ['goes into a branch with another policy', { ...PULL_REQUEST, baseCommit: 'moved' }, false],
  ['has lost its base branch', { ...PULL_REQUEST, baseCommit: undefined }, false],
  ['is gone', undefined, false],
] as const) {
  test(`nothing is written about a pull request that is another by now: one that ${what}`, async (t) => {
    const forge: Partial<Forge> = { machineAccounts: [], pullRequest: async () => now, fileAt: async () => 'another' };
    const context = { ...NO_OPERATOR_POLICIES, forge: forge as Forge };
    t.is(await isCurrent(context, { pullRequest: PULL_REQUEST, rules: RULES }), isSame);
  });
}
