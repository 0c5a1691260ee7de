import test from 'ava';
import { type CodeOwnersDialect, FORGES } from '../../../src/forges/port/forges.ts';
import { factsOf } from '../../../src/review/cases/given.ts';
import { ownerTeams, readCodeOwners } from '../../../src/review/predicates/code-owners.ts';
import { requiring } from './judge.ts';

function owners(text: string, path: string, dialect: CodeOwnersDialect = 'github'): string {
  return (readCodeOwners(text, dialect)?.(path) ?? ['too large']).join(' ');
}

// The statements of GitHub's page about code owners, in its order.
const github: readonly (readonly [pattern: string, path: string, owned: boolean])[] = [
  ['*', 'any/file', true],
  ['*.js', 'deep/down/a.js', true],
  ['*.js', 'a.jsx', false],
  ['/build/logs/', 'build/logs/x/y', true],
  ['/build/logs/', 'a/build/logs/x', false],
  ['docs/*', 'docs/getting-started.md', true],
  ['docs/*', 'docs/build-app/troubleshooting.md', false],
  ['apps/', 'x/apps/y/z', true],
  ['apps/', 'apps', false],
  ['/docs/', 'docs/a', true],
  ['/docs/', 'x/docs/a', false],
  ['**/logs', 'deeply/nested/logs/a', true],
  ['/apps/github', 'apps/github/a', true],
  ['docs', 'x/docs/a', true],
  ['a/**/b', 'a/x/y/b', true],
  ['with\\ space', 'with space', true],
];
for (const [pattern, path, owned] of github) {
  test(`GitHub: ${pattern} ${owned ? 'owns' : 'does not own'} ${path}`, (t) => {
    t.is(owners(`${pattern} @octocat`, path), owned ? '@octocat' : '');
  });
}

test('GitHub: the last matching line counts, also when it has no owners', (t) => {
  const text = '# everything\n* @all # of you\n\n/apps/ @octocat @octo/apps\n/apps/github\n';
  t.is(owners(text, 'x'), '@all');
  t.is(owners(text, 'apps/x'), '@octocat @octo/apps');
  t.is(owners(text, 'apps/github/x'), '');
});

test('GitHub: lines with invalid syntax are skipped', (t) => {
  t.is(owners('* @all\n!docs @a\n[ab].js @b\n\\#x @c', 'docs'), '@all');
  t.is(owners('* @all\n[ab].js @b', 'a.js'), '@all');
});

test('Gitea: expressions match whole paths, and all matching lines count', (t) => {
  const text = '.*\\\\.go @user1 @user2 # comment\n!frontend/.* @org1/team3\nbad( @x\nalone\n';
  t.is(owners(text, 'a/b.go', 'gitea'), '@user1 @user2 @org1/team3');
  t.is(owners(text, 'frontend/b.go', 'gitea'), '@user1 @user2');
  t.is(owners(text, 'frontend/x', 'gitea'), '');
  t.is(owners('path\\ with\\ space @a', 'path with space', 'gitea'), '@a');
  t.is(owners('dir/with\\#hash @a', 'dir/with#hash', 'gitea'), '@a');
});

test('a pattern that is too long makes the whole CODEOWNERS file unusable', (t) => {
  t.is(owners(`* @all\n${'a'.repeat(300)} @b`, 'x'), 'too large');
  t.is(owners(`.* @all\n${'a'.repeat(600)} @b`, 'x', 'gitea'), 'too large');
});

test('each forge looks for CODEOWNERS in its own places and reads it in its own way', (t) => {
  t.is(FORGES.github.codeOwners.paths[0], '.github/CODEOWNERS');
  t.is(FORGES.gitea.codeOwners.paths[0], 'CODEOWNERS');
  t.is(FORGES.forgejo.codeOwners.paths.at(-1), '.forgejo/CODEOWNERS');
  t.deepEqual(
    Object.values(FORGES).map(({ codeOwners }) => codeOwners.dialect),
    ['github', 'gitea', 'gitea'],
  );
});

test('the teams to ask for are those that own something in the change', (t) => {
  const facts = factsOf({
    codeowners: '/a/ @octo/Core @bob\n/b/ @octo/docs\n/c/ ops@example.test\n',
    files: [{ path: 'a/x' }, { path: 'c/x', from: 'b/x' }],
  });
  t.deepEqual(ownerTeams(facts), ['octo/core', 'octo/docs']);
});

const codeowners = '/a/ @bob @octo/core\n/b/ @carol\n';
const rule = '{ approvals: { from: [CODEOWNERS] } }';

test('every owned file needs an approval of its own owners', (t) => {
  const files = [{ path: 'a/x' }, { path: 'b/x' }, { path: 'free' }];
  t.is(requiring(rule, { codeowners, files, reviews: [{ author: 'Bob' }] }).outcome, 'unmatched');
  t.is(requiring(rule, { codeowners, files, reviews: [{ author: 'bob' }, { author: 'carol' }] }).outcome, 'matched');
  t.is(requiring(rule, { codeowners, files: [{ path: 'free' }] }).outcome, 'matched');
  const { found } = requiring(rule, { codeowners, files, reviews: [{ author: 'bob' }] });
  t.is(found, 'no approval that counts for "b/x", owned by "@carol"');
});

test('a renamed file needs the owners of both places', (t) => {
  const files = [{ path: 'b/x', from: 'a/x' }];
  t.is(requiring(rule, { codeowners, files, reviews: [{ author: 'carol' }] }).outcome, 'undecided');
  t.is(
    requiring(rule, { codeowners, files, reviews: [{ author: 'carol' }], teams: { 'octo/core': [] } }).outcome,
    'unmatched',
  );
  const teams = { 'octo/core': ['dave'] };
  t.is(
    requiring(rule, { codeowners, files, teams, reviews: [{ author: 'carol' }, { author: 'dave' }] }).outcome,
    'matched',
  );
});

test('others named beside CODEOWNERS may approve instead of the owners', (t) => {
  const both = '{ approvals: { from: [CODEOWNERS, root] } }';
  t.is(requiring(both, { codeowners, files: [{ path: 'b/x' }], reviews: [{ author: 'root' }] }).outcome, 'matched');
});

test('without CODEOWNERS, or with half a list of files, nothing passes silently', (t) => {
  const reviews = [{ author: 'carol' }];
  t.is(requiring(rule, { files: [{ path: 'b/x' }], reviews }).outcome, 'undecided');
  t.is(requiring(rule, { codeowners_unread: true, files: [{ path: 'b/x' }], reviews }).outcome, 'undecided');
  t.is(requiring(rule, { codeowners, files: [{ path: 'b/x' }], files_complete: false, reviews }).outcome, 'undecided');
  t.is(requiring(rule, { codeowners, files: [{ path: 'b/x' }], files_complete: false }).outcome, 'unmatched');
  t.is(requiring(rule, { codeowners: ' '.repeat(300_000), files: [{ path: 'b/x' }], reviews }).outcome, 'undecided');
});
