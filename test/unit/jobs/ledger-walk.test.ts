import test from 'ava';
import type { BranchCommit, BroughtBy } from '../../../src/forges/port/branch-history.ts';
import { type AttributionFacts, attribute, walkBranch } from '../../../src/jobs/ledger/walk.ts';

const commit = (sha: string, ...parents: readonly string[]): BranchCommit => ({
  sha,
  parents,
  committer: 'alice',
  message: `feat: ${sha}`,
  byForge: false,
});
const shas = (commits: readonly BranchCommit[]) => commits.map(({ sha }) => sha);

const pull = (mergeCommit: string, more: Partial<BroughtBy> = {}): BroughtBy => ({
  number: 1,
  author: 'alice',
  baseBranch: 'main',
  head: 'head',
  mergeCommit,
  mergedAt: '2026-01-01T00:00:00Z',
  mergedBy: 'bob',
  byQueue: false,
  ...more,
});
/** Of a pull request. */
const own = (...names: readonly string[]) => new Map([[1, names.map((sha) => ({ sha, message: `feat: ${sha}` }))]]);
const LINE = [commit('a', 'known'), commit('b', 'a'), commit('c', 'b')];

function attributed(commits: readonly BranchCommit[], parts: Partial<AttributionFacts>): readonly string[] {
  const whole = {
    branch: 'main',
    known: 'known',
    brought: new Map(),
    namesEvery: false,
    pushes: [],
    ownCommits: new Map(),
  };
  return attribute(commits, { ...whole, ...parts }).map(({ commit: { sha }, pullRequest, method, unclear }) =>
    pullRequest === undefined ? `${sha} ${unclear === undefined ? 'none' : 'unclear'}` : `${sha} ${method}`,
  );
}

test('only first parents are walked, and a merge loses nothing', (t) => {
  const listed = [commit('m', 'known', 'f2'), commit('f2', 'f1'), commit('f1', 'known')];
  const { commits, rewritten } = walkBranch(listed, 'known', 'm');
  t.deepEqual(shas(commits), ['m']);
  t.false(rewritten);
});

test('a fast-forward over a merge of the base loses nothing', (t) => {
  const listed = [commit('m', 'f1', 'known'), commit('f1', 'older')];
  const { commits, rewritten } = walkBranch(listed, 'known', 'm');
  t.deepEqual(shas(commits), ['f1', 'm']);
  t.false(rewritten);
});

test('a tip that does not come after the known commit has lost it', (t) => {
  t.true(walkBranch([commit('x', 'older')], 'known', 'x').rewritten);
  t.true(walkBranch([], 'known', 'older').rewritten);
  t.false(walkBranch([], 'known', 'known').rewritten);
});

test('a pull request into another branch, or that became another commit, brings none', (t) => {
  const other = new Map([['c', [pull('c', { baseBranch: 'next' })]]]);
  t.deepEqual(attributed(LINE.slice(2), { brought: other, known: 'b' }), ['c none']);
  const elsewhere = new Map([['c', [pull('z')]]]);
  t.deepEqual(attributed(LINE.slice(2), { brought: elsewhere, known: 'b' }), ['c unclear']);
});

test('a merge is of the pull request whose head it has, not of one below it', (t) => {
  const below = pull('m', { number: 7, head: 'below' });
  const brought = new Map([['m', [below, pull('m')]]]);
  const parts = { branch: 'main', known: 'known', namesEvery: true, pushes: [], ownCommits: new Map(), brought };
  const [found] = attribute([commit('m', 'known', 'head')], parts);
  t.is(found?.pullRequest?.number, 1);
});

test('where the forge names every commit, no other belongs to a pull request', (t) => {
  const brought = new Map([
    ['b', [pull('c')]],
    ['c', [pull('c')]],
  ]);
  t.deepEqual(attributed(LINE, { brought, namesEvery: true }), ['a none', 'b rebase', 'c rebase']);
});

test('where it names the last one only, the push shows which others belong to it', (t) => {
  const brought = new Map([['c', [pull('c')]]]);
  const ownCommits = own('x', 'y');
  const push = (before: string, after: string) => ({ before, after, pusher: 'bob' });
  t.deepEqual(attributed(LINE, { brought, ownCommits, pushes: [push('a', 'c')] }), ['a none', 'b rebase', 'c rebase']);
  t.deepEqual(attributed(LINE, { brought, ownCommits, pushes: [push('b', 'c')] }), ['a none', 'b none', 'c squash']);
});

test('where the webhook of a rebase is lost, its messages show what is not of it', (t) => {
  const brought = new Map([['c', [pull('c')]]]);
  const rebased = new Map([
    [
      1,
      [
        { sha: 'x', message: 'feat:  b\n' },
        { sha: 'y', message: 'feat: c' },
      ],
    ],
  ]);
  t.deepEqual(attributed(LINE, { brought, ownCommits: rebased }), ['a none', 'b unclear', 'c squash']);
  t.deepEqual(attributed(LINE, { brought, ownCommits: own('x', 'y') }), ['a none', 'b none', 'c squash']);
});

test('a push of more commits than the pull request has does not make them its own', (t) => {
  const brought = new Map([['c', [pull('c')]]]);
  const pushes = [{ before: 'known', after: 'c', pusher: 'mallory' }];
  t.deepEqual(attributed(LINE, { brought, pushes, ownCommits: own('x', 'y') }), ['a none', 'b rebase', 'c rebase']);
  t.deepEqual(attributed(LINE, { brought, pushes, ownCommits: own('x') }), ['a none', 'b none', 'c squash']);
});

test('commits that were pushed with a merge commit are not its own', (t) => {
  const commits = [commit('a', 'known'), commit('m', 'a', 'head')];
  const brought = new Map([['m', [pull('m')]]]);
  const pushes = [{ before: 'known', after: 'm', pusher: 'mallory' }];
  t.deepEqual(attributed(commits, { brought, pushes, ownCommits: own(...'123456789') }), ['a none', 'm merge']);
});

test('a fast-forward brings the commits that the pull request has, and no others', (t) => {
  const brought = new Map([['c', [pull('c', { head: 'c' })]]]);
  const ownCommits = own('b', 'c', 'd');
  const pushes = [{ before: 'known', after: 'c', pusher: 'mallory' }];
  t.deepEqual(attributed(LINE, { brought, pushes, ownCommits }), ['a none', 'b fast-forward', 'c fast-forward']);
  t.deepEqual(attributed(LINE, { brought, ownCommits }), ['a none', 'b fast-forward', 'c fast-forward']);
});

test('the head itself on the branch is a fast-forward', (t) => {
  const brought = new Map([['c', [pull('c', { head: 'c' })]]]);
  const pushes = [{ before: 'known', after: 'c', pusher: 'bob' }];
  const found = attributed(LINE, { brought, pushes, ownCommits: own('a', 'b', 'c') });
  t.deepEqual(found, ['a fast-forward', 'b fast-forward', 'c fast-forward']);
});
