import { pullRequestOf } from '../../../src/facts/pull-request.ts';
import { factsOf } from '../../../src/facts/table.ts';
import { type CodeOwnersDialect, FORGES } from '../../../src/forges/port/forges.ts';
import type { Given } from '../../../src/review/cases/given.ts';
import { evaluate } from '../../../src/review/evaluation/evaluate.ts';
import { ownerTeams, readCodeOwners } from '../../../src/review/predicates/code-owners.ts';
import type { Outcome } from '../../../src/review/predicates/predicate.ts';
import { renderReview } from '../../../src/review/rendering/comment.ts';
import { linksOf } from '../../../src/review/rendering/links.ts';
import { explain } from '../../../src/review/rendering/terminal.ts';
import { plain, say } from '../../../src/review/text.ts';
import { verdictOf } from '../../../src/review/verdict.ts';
import test from '../../helpers/test.ts';
import { policyOf, requiring, verdict } from './judge.ts';

function owners(text: string, path: string, dialect: CodeOwnersDialect = 'github'): string {
  const read = readCodeOwners(text, dialect);
  return read.kind === 'read'
    ? (read.ownersOfEach([path])[0] ?? []).map((owned) => owned.owners.join(' ')).join(' and ')
    : plain(say`a file ${read.why}`);
}

type Reading = readonly [text: string, path: string, owners: string];

const GITHUB: readonly Reading[] = [
  // Statements of GitHub's page about code owners; test/unit/review/owner-patterns.test.ts compares others.
  ['*.js @bob', 'a.jsx', ''],
  ['docs/* @bob', 'docs/getting-started.md', '@bob'],
  ['docs/* @bob', 'docs/build-app/troubleshooting.md', ''],
  ['apps/ @bob', 'x/apps/y/z', '@bob'],
  ['apps/ @bob', 'apps', ''],
  ['/docs/ @bob', 'x/docs/a', ''],
  ['**/logs @bob', 'deeply/nested/logs/a', '@bob'],
  ['with\\ space @bob', 'with space', '@bob'],
  // The last matching line counts, also when it has no owners.
  ['* @all # of you\n/apps/ @bob', 'x', '@all'],
  ['* @all\n\n/apps/ @bob @octo/apps\n/apps/github\n', 'apps/x', '@bob @octo/apps'],
  ['* @all\n/apps/ @bob\n/apps/github\n', 'apps/github/x', ''],
  // Lines with invalid syntax are skipped.
  ['* @all\n!docs @a\n[ab].js @b\n\\#x @c', 'docs', '@all'],
  ['* @all\n[ab].js @b', 'a.js', '@all'],
  ['* @sally\ndocs/ @bob nobody\ndocs/b @carol', 'docs/b', '@carol'],
  // Owners are the same whatever is between words and lines.
  ['docs/\t@bob\t# of @carol', 'docs/a', '@bob'],
  ['\ufeffdocs/ @bob', 'docs/a', '@bob'],
  ['* @all\r\ndocs/ @bob\r\n', 'docs/a', '@bob'],
  ['  docs/ @bob @BOB', 'docs/a', '@bob'],
  ['[Docs] @x\n^[Docs]\n!docs/ @x\ndocs/ @bob', 'docs/a', '@bob'],
  ['docs/ @bob # \u2028 @carol', 'docs/a', '@bob'],
  [`docs/ @bob${' # '.repeat(50_000)}\u2028`, 'docs/a', '@bob'],
  ['docs/\\#a\\b\\* @bob', 'docs/#ab*', '@bob'],
  ['* @all\ndocs/\\', 'docs/a', '@all'],
  ['/ @bob', 'docs/a', ''],
  // Large and odd files can still be read.
  ['# d\ufffdcs\n[\ufffd]\ndocs/ @bob', 'docs/a', '@bob'],
  [`docs/${' @bob'.repeat(20_000)}`, 'docs/a', '@bob'],
  [`${'docs/'.repeat(60)} @bob`, `${'docs/'.repeat(60)}a`, '@bob'],
];

// Each expression was compared with regexp2 1.11.5, the engine of Gitea 1.26.0.
const GITEA: readonly Reading[] = [
  ['/docs/.* @bob', 'docs/a', '@bob'],
  ['!/docs/.* @bob', 'docs/a', ''],
  ['!/docs/.* @bob', 'src/a', '@bob'],
  ['//docs/.* @bob', 'docs/a', ''],
  ['/!docs @bob', '!docs', '@bob'],
  ['.*\\\\.md @bob', 'docs/a.md\n', '@bob'],
  ['!.*\\\\.md @bob', 'a.md\n', ''],
  ['.*\\\\.md$ @bob', 'a.md', '@bob'],
  ['a|b @bob', 'xb', '@bob'],
  ['a|b @bob', 'bx', ''],
  ['a\\\\.md$|b @bob', 'a.md\n', '@bob'],
  ['docs/.* @bob', 'docs/a\nb', ''],
  ['*.js @bob', 'src/a.js', '@bob'],
  ['src/\\\\w+\\\\.go @bob', 'src/fü.go', '@bob'],
  ['!src/\\\\w+\\\\.go @bob', 'src/fü.go', ''],
  ['src/[\\\\w-]+\\\\.go @bob', 'src/日-本.go', '@bob'],
  ['src/\\\\W+ @bob', 'src/ü', ''],
  ['src/\\\\d+/.* @bob', 'src/٣/x', '@bob'],
  ['src/[^\\\\d] @bob', 'src/٣', ''],
  ['a\\\\sb @bob', 'a\u00a0b', '@bob'],
  ['a\\\\Sb @bob', 'a\u2003b', ''],
  ['a[^\\\\s]b @bob', 'a\u2003b', ''],
  ['a{02} @bob', 'aa', '@bob'],
  ['a{,2} @bob', 'a{,2}', '@bob'],
  ['[a-c]{1,2}?/[+.-] @bob', 'ab/-', '@bob'],
  ['[\\\\.-9]x @bob', '/x', '@bob'],
  ['\\\\(a\\\\)\\\\/\\\\$ @bob', '(a)/$', '@bob'],
  ['(?:a|b)+/(c) @bob', 'ab/c', '@bob'],
  ['🦊. @bob', '🦊🦊', '@bob'],
  // All matching lines count, and those without a meaning are skipped.
  [
    '.*\\\\.go @user1 @user2 # comment\n!frontend/.* @org1/team3\nbad( @x\nalone\n',
    'a/b.go',
    '@user1 @user2 @org1/team3',
  ],
  ['.*\\\\.go @user1 @user2\n!frontend/.* @org1/team3', 'frontend/b.go', '@user1 @user2'],
  ['!frontend/.* @org1/team3\nalone\n', 'frontend/x', ''],
  ['bad( @x\n.* @b', 'src/a', '@b'],
  ['[ab @bob\n.* @carol', 'x', '@carol'],
  ['[\\\\d\u00fc? @bob\n.* @carol', 'x', '@carol'],
  ['(a @bob\n.* @carol', 'x', '@carol'],
  ['a) @bob\n.* @carol', 'x', '@carol'],
  ['path\\ with\\ space @a', 'path with space', '@a'],
  ['dir/with\\#hash @a', 'dir/with#hash', '@a'],
  ['a\u00a0b\t@bob', 'a\u00a0b', '@bob'],
];

const UNREADABLE = 'a file with a pattern in line 1 that Gatehouse cannot read';

// The expressions are those of Go, without a leading slash.
const FORGEJO: readonly Reading[] = [
  ['src/\\\\w+\\\\.go @bob', 'src/fu.go', '@bob'],
  ['!src/\\\\w+\\\\.go @bob', 'src/fü.go', '@bob'],
  ['!.*\\\\.md @bob', 'a.md\n', '@bob'],
  ['(?i)DOCS @bob', 'docs', '@bob'],
  ['/docs/.* @bob', 'docs/a', `${UNREADABLE}: "/docs/.*"`],
  ['!/docs/.* @bob', 'docs/a', `${UNREADABLE}: "!/docs/.*"`],
  ['a\u00a0b\t@bob', 'a\u00a0b', '@bob'],
];

for (const [dialect, rows] of Object.entries({ github: GITHUB, gitea: GITEA, forgejo: FORGEJO })) {
  test(`${dialect}: owners are those of the lines that count for a path`, (t) => {
    for (const [text, path, expected] of rows) {
      t.is(owners(text, path, dialect as CodeOwnersDialect), expected, JSON.stringify([text.slice(0, 100), path]));
    }
  });
}

test('a pattern that is too long makes the whole CODEOWNERS file unusable', (t) => {
  const unreadable = /^a file with a pattern in line 2 that Gatehouse cannot read: "a+…"$/;
  t.regex(owners(`* @all\n${'a'.repeat(300)} @b`, 'x'), unreadable);
  t.regex(owners(`.* @all\n${'a'.repeat(600)} @b`, 'x', 'gitea'), unreadable);
});

test('each forge looks for CODEOWNERS in its own places and reads it in its own way', (t) => {
  t.is(FORGES.github.codeOwners.paths[0], '.github/CODEOWNERS');
  t.is(FORGES.gitea.codeOwners.paths[0], 'CODEOWNERS');
  t.is(FORGES.forgejo.codeOwners.paths.at(-1), '.forgejo/CODEOWNERS');
  t.deepEqual(
    Object.values(FORGES).map(({ codeOwners }) => codeOwners.dialect),
    ['github', 'gitea', 'forgejo'],
  );
});

test('the teams to ask for are those that own something in the change', (t) => {
  const facts = factsOf({
    codeowners: '/a/ @octo/Core @bob\n/b/ @octo/docs\n/c/ ops@example.test\n',
    files: [{ path: 'a/x' }, { path: 'c/x', from: 'b/x' }],
  });
  t.deepEqual(ownerTeams(facts), ['octo/core', 'octo/docs']);
});

const RULE = '{ approvals: { from: [CODEOWNERS] } }';
const AREAS = '/a/ @bob @octo/core\n/b/ @carol\n';

/** Of a change of docs/a, unless `more` has other files. */
function approvedBy(logins: string, codeowners: string, more: Given & { readonly value?: string } = {}): Outcome {
  const { value = RULE, ...given } = more;
  const reviews = logins.split(' ').flatMap((author) => (author === '' ? [] : [{ author }]));
  return requiring(value, { codeowners, files: [{ path: 'docs/a' }], reviews, ...given }).outcome;
}

const files = (...paths: readonly string[]) => ({ files: paths.map((path) => ({ path })) });
const MOVED = { files: [{ path: 'b/x', from: 'a/x' }] };
const core = (...members: readonly string[]): Given => ({ teams: { 'octo/core': [...members] } });
const HALF: Given = { ...files('b/x'), files_complete: false };
const OR_ROOT = { ...files('b/x'), value: RULE.replace(']', ', root]') };
const EACH = '/a/ @bob @carol\n/b/ @bob @carol @dave\n';
const each = (value: string) => ({ value: `{ approvals: { from: ${value} } }`, ...files('a/x', 'b/x') });

const APPROVED: readonly (readonly [
  why: string,
  expected: Outcome,
  by: string,
  codeowners: string,
  more?: Given & { readonly value?: string },
])[] = [
  ['one of two owned files', 'unmatched', 'Bob', AREAS, files('a/x', 'b/x', 'free')],
  ['both owned files', 'matched', 'bob carol', AREAS, files('a/x', 'b/x', 'free')],
  ['a file that nobody owns', 'matched', '', AREAS, files('free')],
  ['a renamed file, and a team unread', 'undecided', 'carol', AREAS, MOVED],
  ['a renamed file, of its new place', 'unmatched', 'carol', AREAS, { ...MOVED, ...core() }],
  ['a renamed file, of both places', 'matched', 'carol dave', AREAS, { ...MOVED, ...core('dave') }],
  ['somebody named beside CODEOWNERS', 'matched', 'root', AREAS, OR_ROOT],
  ['CODEOWNERS that could not be read', 'undecided', 'carol', AREAS, { codeowners_unread: true }],
  ['half a list of files', 'undecided', 'carol', AREAS, HALF],
  ['half a list, with a file that lacks its owner', 'unmatched', '', AREAS, HALF],
  ['a file that is too large', 'undecided', 'carol', ' '.repeat(3_200_000)],
  ['UTF-16', 'undecided', '', Buffer.from('* @bob\n', 'utf16le').toString()],
  ['a NUL', 'undecided', '', '* @bob\0'],
  ['what is no UTF-8', 'undecided', '', 'd\ufffdcs/ @bob'],
  ['a very long pattern', 'undecided', '', `${'a'.repeat(100_000)} @bob`],
  ['an expression of Gitea alone', 'undecided', '', '(?!docs/).* @bob', { ...files('src/a'), dialect: 'gitea' }],
  // Nobody who cannot be an owner approves as one.
  ['a login without an at sign', 'unmatched', 'nobody', '* @sally\ndocs/ nobody'],
  ['a login beside other misspelt owners', 'unmatched', 'nobody', '* @sally\ndocs/ nobody mail@x.test @'],
  ['a login without an at sign, alone', 'unmatched', 'nobody', 'docs/ nobody'],
  ['the owner of the line before', 'matched', 'sally', '* @sally\ndocs/ nobody'],
  ['an owner of nothing', 'unmatched', 'sally', 'docs/ nobody'],
  ['another, where an owner is misspelt', 'unmatched', 'carol', '* @sally\n/docs/\ndocs/ nobody'],
  ['a part of an address', 'unmatched', 'nobody@x', 'docs/.* nobody@x @a/b/c', { dialect: 'gitea' }],
  ['a good owner beside it', 'matched', 'sally', 'docs/.* nobody@x @sally', { dialect: 'gitea' }],
  ['the good owner of a line with an invalid one', 'unmatched', 'bob', '* @sally\ndocs/ @bob nobody\n'],
  ['only those before a line with an invalid owner', 'unmatched', 'sally', '* @sally\ndocs/ @bob nobody\n'],
  ['those of both lines', 'matched', 'bob sally', '* @sally\ndocs/ @bob nobody\n'],
  // Several of the owners
  ['each: one of two', 'unmatched', 'bob', EACH, each('CODEOWNERS, each: 2')],
  ['each: two of one file alone', 'unmatched', 'bob dave', EACH, each('CODEOWNERS, each: 2')],
  ['each: two of both files', 'matched', 'bob carol', EACH, each('CODEOWNERS, each: 2')],
  ['each: somebody else who may approve', 'unmatched', 'root', EACH, each('[CODEOWNERS, root], each: 1')],
  ['each: an owner where others may approve too', 'matched', 'bob', EACH, each('[CODEOWNERS, root], each: 1')],
  ['each: too few with count', 'unmatched', 'bob', EACH, each('[CODEOWNERS, root], count: 2, each: 1')],
  ['each: enough with count', 'matched', 'bob root', EACH, each('[CODEOWNERS, root], count: 2, each: 1')],
  ['each: an owner and another', 'unmatched', 'bob bot1', EACH, each('[CODEOWNERS, bot1], each: 2')],
  ['each: a file with fewer owners', 'unmatched', 'bob', '* @bob', each('CODEOWNERS, each: 2')],
];

for (const [why, expected, by, codeowners, more] of APPROVED) {
  test(`approvals of owners are ${expected}: ${why}`, (t) => {
    t.is(approvedBy(by, codeowners, more), expected);
  });
}

test('without CODEOWNERS nothing passes silently', (t) => {
  t.is(requiring(RULE, { ...files('b/x'), reviews: [{ author: 'carol' }] }).outcome, 'undecided');
});

const GITEA_ALONE = String.raw`
  [a-z-[aeiou]] [[:alpha:]] [\W] [\b] [\ü] [\_] []a] [^]a] [\--z] [--a] [a-\-] [\w-z]
  \bdocs \Bdocs \Adocs docs\Z \G \h \x64 \u0064 \e \pL \p{L} \Qa\E
  (a)\1 \01 \k<a> \<a> \'a' \_ \ü (?i)docs (?i:docs) (?x)do␣cs (?#a)docs
  (?s). (?P<a>docs) (?<a>docs) (?>docs) (?(a)b|c) (?) a++ a** a{2}{3} a$b (a$|b)c $*
  (?!docs/).* a{2000} (?>a)b (?<x>a)`;

test('Gitea: owners are unknown where a pattern may mean something else', (t) => {
  for (const pattern of GITEA_ALONE.trim().split(/\s+/)) {
    const line = `${pattern.replaceAll('\\', '\\\\').replaceAll('␣', '\\ ').replaceAll('#', '\\#')} @bob`;
    t.true(owners(line, 'docs', 'gitea').startsWith(UNREADABLE), pattern);
  }
});

test('Gitea: no name of a file makes a change green without its owners', (t) => {
  for (const [pattern, path] of [
    ['/docs/.*', 'docs/a'],
    ['docs/\\\\w+', 'docs/ü'],
    ['docs/\\\\d', 'docs/٣'],
    ['.*\\\\.md', 'a.md\n'],
    ['\\\\bdocs.*', 'docs/a'],
    ['(?=docs).*', 'docs/a'],
  ] as const) {
    t.not(approvedBy('', `${pattern} @bob`, { dialect: 'gitea', ...files(path) }), 'matched', pattern);
  }
});

test('a CODEOWNERS file with errors names their lines', (t) => {
  const faultsOf = (text: string, dialect: CodeOwnersDialect) => {
    const read = readCodeOwners(text, dialect);
    return read.kind === 'read' ? read.faults.map(({ line, what }) => `${line}: ${plain(what)}`) : [];
  };
  const github = '* @all # fine\n\n!docs @a\n[ab].js @b\n*.md docs@ @octo/docs x@y.test nobody\n/none\n';
  t.deepEqual(faultsOf(github, 'github'), [
    '3: "!docs" is no pattern, so the line is skipped',
    '4: "[ab].js" is no pattern, so the line is skipped',
    '5: "docs@", "nobody" cannot be an owner',
  ]);
  t.deepEqual(faultsOf('# fine\n.* bob @octo/docs\nbad( @x\nalone\na x@y.test @a/b/c', 'gitea'), [
    '3: "bad(" is no regular expression, so the line is skipped',
    '4: "alone" has no owner, so the line is skipped',
    '5: "x@y.test", "@a/b/c" cannot be an owner',
  ]);
});

test('names that no forge gives to an owner are faults', (t) => {
  const faulty = (line: string, dialect: CodeOwnersDialect = 'github') => {
    const read = readCodeOwners(`.* @zoe\n${line}`, dialect);
    return read.kind === 'read' && read.faults.some((fault) => fault.line === 2);
  };
  const never = ['@a,@b', ...'@bob, @octo/core, @bob; ; @bob\uff0c @bob#x @@octo @ @octo/ @octo/a/b'.split(' ')];
  for (const owner of never) {
    t.true(faulty(`docs/ ${owner}`), owner);
    t.is(approvedBy('', `docs/ ${owner}`), 'unmatched', owner);
  }
  for (const owner of ['@-bob', '@a--b', '@bob.x', '@bob\\', 'x@y.test,', '@octo/co.re', '@octo corp']) {
    t.true(faulty(`docs/ ${owner}`), owner);
  }
  for (const owner of ['@Bob-x', '@bob-', '@bob_octo', '@0', '@octo/the_core-2', 'a.b+c@d-e.test', '@a @A']) {
    t.false(faulty(`docs/ ${owner}`), owner);
  }
  for (const dialect of ['gitea', 'forgejo'] as const) {
    for (const owner of never.filter((name) => name !== '@bob#x')) {
      t.true(faulty(`docs/.* ${owner}`, dialect), owner);
    }
    t.false(faulty('docs/.* @a.b_c-d octo/the.core bob#x', dialect));
  }
});

test('a line of owners without a pattern leaves no file without an owner', (t) => {
  const alone = '@octo/core|@octo/core @sally|@sally # all|@sally, @bob|@sally,@bob|@octo/core docs/|@@octo'.split('|');
  for (const dialect of ['github', 'gitea', 'forgejo'] as const) {
    const path = dialect === 'github' ? '/docs/a' : 'docs/a';
    for (const line of alone) {
      t.is(approvedBy('sally', line, { dialect }), 'unmatched', line);
      t.is(approvedBy('sally', `${line}\n${path} @sally`, { dialect }), 'matched', line);
      t.is(approvedBy('carol', `.* @carol\n* @carol\n${line}`, { dialect }), 'matched', line);
      t.is(approvedBy('sally', `.* @carol\n* @carol\n${line}`, { dialect }), 'unmatched', line);
    }
  }
  for (const line of ['sally@x.test', 'sally@x.test @sally', '@octo[bot]']) {
    t.is(approvedBy('sally', line), 'unmatched', line);
  }
});

test('a path may begin with an at sign', (t) => {
  for (const [pattern, path, dialect = 'github'] of [
    ['@types/', '@types/node'],
    ['@scope/pkg/**', '@scope/pkg/a'],
    ['@scope/*', '@scope/pkg'],
    ['@a/b/c', '@a/b/c/d'],
    ['/@types', '@types/node'],
    ['@app.ts', 'src/@app.ts'],
    ['icon@2x.png', 'src/icon@2x.png'],
    ['pkg@1.2.3.tgz', 'src/pkg@1.2.3.tgz'],
    ['getty@tty1.service', 'units/getty@tty1.service'],
    ['@types/.*', '@types/node', 'gitea'],
    ['@a/b/c', '@a/b/c', 'forgejo'],
  ] as const) {
    t.is(owners(`${pattern} @bob`, path, dialect), '@bob', pattern);
    t.is(owners(`${pattern} @bob`, 'x', dialect), '', pattern);
  }
});

test('a CODEOWNERS file of 3 MB is judged, and a larger one is not', (t) => {
  const line = (index: number) => `/packages/package-${index}/ @octo/core @person${index}\n`;
  const lines = Array.from({ length: 60_000 }, (_, index) => line(index)).join('');
  const large = `${lines}${'#'.repeat(3_145_728 - lines.length)}`;
  t.is(owners(large, 'packages/package-59000/a'), '@octo/core @person59000');
  t.is(owners(`${large}#`, 'packages/package-59000/a'), 'a file that is larger than 3145728 bytes');
  t.is(owners(`${large.slice(0, -1)}\u00fc`, 'a'), 'a file that is larger than 3145728 bytes');
});

// Which file needs whom

const OWNED = 'version: 1\nrules: [{ id: owners, require: { approvals: { from: [CODEOWNERS] } } }]';
const links = linksOf('github', pullRequestOf(), { baseSha: 'a'.repeat(40), policyDigest: 'd' });
const commentOn = (policy: string, given: Given) => renderReview(verdict(policy, given), { links, enforce: true });
/** The rows of the table of owners. */
const tableOn = (policy: string, given: Given) =>
  (/\| Files[^\n]*\n\|---\|---\|---\|---\|\n((?:\|[^\n]*\n)*)/.exec(commentOn(policy, given))?.[1] ?? '')
    .split('\n')
    .slice(0, -1);

test('the comment says which files need whom, those without approval first', (t) => {
  const given: Given = {
    author: 'alice',
    codeowners: '/a/ @bob\n/b/ @octo/core @alice\n/c/ @carol @dave mail@x.test\n/d/ @alice',
    teams: { 'octo/core': ['alice', 'erin'] },
    files: [{ path: 'a/1' }, { path: 'b/1' }, { path: 'b/2' }, { path: 'c/1' }, { path: 'd/1' }, { path: 'e' }],
    reviews: [{ author: 'bob' }],
  };
  t.deepEqual(tableOn(OWNED, given), [
    '| `/b/` (2 files) | `@octo/core`, `alice` | | `@octo/core` |',
    '| `c/1` | `carol`, `dave`, `mail@x.test` | | 1 of `carol`, `dave` |',
    '| `d/1` | `alice` | | 1, and no other owner may approve |',
    '| `a/1` | `bob` | `bob` | |',
  ]);
  t.regex(commentOn(OWNED, given), /\| Approvals for 1 of 5 files with owners \|/);
  t.deepEqual(
    tableOn(OWNED, { ...given, teams: { 'octo/core': ['alice'] } })[0],
    '| `/b/` (2 files) | `@octo/core`, `alice` | | 1, and no other owner may approve |',
  );
});

test('a file whose line names nobody that can be an owner is shown with these names', (t) => {
  const given: Given = { codeowners: 'docs/ nobody mail', files: [{ path: 'docs/a' }] };
  t.deepEqual(tableOn(OWNED, given), ['| `docs/a` | `nobody`, `mail` | | 1, and no other owner may approve |']);
  t.regex(commentOn(OWNED, given), /^- `CODEOWNERS`, line 1: `nobody`, `mail` cannot be an owner$/m);
});

test('nobody is asked to approve whose approval cannot count', (t) => {
  const policy = OWNED.replace('from: [CODEOWNERS]', 'from: [CODEOWNERS], not_from: dave');
  const commits = [{ message: 'x', author: 'carol' }];
  const given = { codeowners: '* @bob @carol @dave', files: [{ path: 'a' }], commits };
  t.deepEqual(tableOn(policy, given), ['| `a` | `bob`, `carol`, `dave` | | `bob` |']);
});

test('a team that could not be read is named in the table', (t) => {
  const given = { codeowners: '* @octo/core', files: [{ path: 'a' }], reviews: [{ author: 'bob' }] };
  t.deepEqual(tableOn(OWNED, given), [
    '| `a` | `@octo/core` | | `@octo/core`; the members of `octo/core` could not be read |',
  ]);
});

test('a faulty line of CODEOWNERS is named in the comment and in the terminal', (t) => {
  const given = { codeowners: '* @bob\n!x @carol', files: [{ path: 'a' }] };
  t.regex(commentOn(OWNED, given), /^- `CODEOWNERS`, line 2: `!x` is no pattern, so the line is skipped$/m);
  const policy = policyOf(OWNED);
  const evaluation = evaluate(policy, factsOf(given));
  const text = explain(evaluation, verdictOf(evaluation), { colours: false });
  t.regex(text, /Files +Owners +Approved by +Missing\n +"a" +"bob" +"bob"\n +"CODEOWNERS", line 2: /);
});

test('rules with the same owners have one table, and others name their rule', (t) => {
  const heads = (second: string) => {
    const rules = ['{ from: CODEOWNERS }', second].map(
      (approvals, index) => `{ id: r${index}, require: { approvals: ${approvals} } }`,
    );
    const body = commentOn(`version: 1\nrules: [${rules}]`, { codeowners: '* @bob @carol', ...files('x') });
    return [...body.matchAll(/^\| (Files.*?) \|/gm)].map(([, head]) => head);
  };
  t.deepEqual(heads('{ from: CODEOWNERS, fresh: true }'), ['Files']);
  t.deepEqual(heads('{ from: CODEOWNERS, each: 2 }'), ['Files, `r0`', 'Files, `r1`']);
});

test('the table of owners stays small, whatever CODEOWNERS and the change have', (t) => {
  const odd = '\u202e'.repeat(100);
  const listed = (amount: number, item: (index: number) => string) =>
    Array.from({ length: amount }, (_, at) => item(at));
  const names = listed(30, (at) => `@${odd}${at}`).join(' ');
  const codeowners = listed(80, (line) => `/${line}/ ${names}\n!${odd}${line} @x\n`).join('');
  const files = listed(80, (line) => `${line}/${odd.repeat(20)}`).map((path) => ({ path }));
  const owned = (id: number) => `  - { id: r${id}, require: { approvals: { from: [CODEOWNERS, u${id}] } } }\n`;
  const rules = listed(90, owned).join('');
  const waiting = '  - { id: last, require: { approvals: { from: [zoe] } } }\n';
  const one = commentOn(OWNED, { codeowners, files });
  t.true(one.length < 65_536, String(one.length));
  t.regex(one, /^\| and 70 more \| \| \| \|$|left out because this comment is full/m);
  const all = commentOn(`version: 1\nrules:\n${rules}${waiting}`, { codeowners, files });
  t.true(all.length < 65_536, String(all.length));
  t.regex(all, /^\| ⏳ \| Ask for 1 approval from `zoe`\. /m, 'no row of another rule is crowded out');
});

test('ten rows of owners are shown, and the others counted', (t) => {
  const files = Array.from({ length: 70 }, (_, index) => ({ path: `${index}/x` }));
  const codeowners = files.map((_, index) => `/${index}/ @bob`).join('\n');
  const rows = tableOn(OWNED, { codeowners, files });
  t.is(rows.length, 11);
  t.is(rows.at(-1), '| and 60 more | | | |');
});

test('the table says how many of the owners of each file are missing', (t) => {
  const policy = OWNED.replace('[CODEOWNERS]', '[CODEOWNERS], each: 2');
  t.deepEqual(tableOn(policy, { codeowners: EACH, ...files('a/x', 'b/x'), reviews: [{ author: 'bob' }] }), [
    '| `a/x` | `bob`, `carol` | `bob` | `carol` |',
    '| `b/x` | `bob`, `carol`, `dave` | `bob` | 1 of `carol`, `dave` |',
  ]);
});
