import { pullRequestOf } from '../../../src/facts/pull-request.ts';
import { factsOf } from '../../../src/facts/table.ts';
import { type CodeOwnersDialect, FORGES } from '../../../src/forges/port/forges.ts';
import type { Given } from '../../../src/review/cases/given.ts';
import { evaluate } from '../../../src/review/evaluation/evaluate.ts';
import { ownerTeams, readCodeOwners } from '../../../src/review/predicates/code-owners.ts';
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

const codeowners = '/a/ @bob @octo/core\n/b/ @carol\n';
const rule = '{ approvals: { from: [CODEOWNERS] } }';

test('every owned file needs an approval of its own owners', (t) => {
  const files = [{ path: 'a/x' }, { path: 'b/x' }, { path: 'free' }];
  t.is(requiring(rule, { codeowners, files, reviews: [{ author: 'Bob' }] }).outcome, 'unmatched');
  t.is(requiring(rule, { codeowners, files, reviews: [{ author: 'bob' }, { author: 'carol' }] }).outcome, 'matched');
  t.is(requiring(rule, { codeowners, files: [{ path: 'free' }] }).outcome, 'matched');
  const { found } = requiring(rule, { codeowners, files, reviews: [{ author: 'bob' }] });
  t.is(found, 'approvals for 1 of 2 files with owners');
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
  t.is(requiring(rule, { codeowners: ' '.repeat(3_200_000), files: [{ path: 'b/x' }], reviews }).outcome, 'undecided');
});

test('Gitea: a line that only Gitea can read leaves no file without owners', (t) => {
  for (const pattern of ['(?!docs/).*', 'a{2000}', '(a)\\\\1', '(?>a)b', '(?<x>a)']) {
    const found = owners(`${pattern} @b`, 'src/a', 'gitea');
    t.true(found === '' || found.startsWith('a file with a pattern in line 1'), `${pattern}: ${found}`);
  }
  const given: Given = { codeowners: '(?!docs/).* @bob', dialect: 'gitea', files: [{ path: 'src/a' }] };
  t.is(requiring(rule, given).outcome, 'undecided');
  t.is(owners('bad( @x\n.* @b', 'src/a', 'gitea'), '@b', 'Gitea skips what is no expression');
});

const UNREADABLE = /^a file with a pattern in line 1 that Gatehouse cannot read/;

// Each was compared with regexp2 1.11.5, the engine of Gitea 1.26.0.
const gitea: readonly (readonly [pattern: string, path: string, owned: boolean])[] = [
  ['/docs/.*', 'docs/a', true],
  ['!/docs/.*', 'docs/a', false],
  ['!/docs/.*', 'src/a', true],
  ['//docs/.*', 'docs/a', false],
  ['/!docs', '!docs', true],
  ['.*\\.md', 'docs/a.md\n', true],
  ['!.*\\.md', 'a.md\n', false],
  ['.*\\.md$', 'a.md', true],
  ['a|b', 'xb', true],
  ['a|b', 'bx', false],
  ['a\\.md$|b', 'a.md\n', true],
  ['docs/.*', 'docs/a\nb', false],
  ['*.js', 'src/a.js', true],
  ['src/\\w+\\.go', 'src/fü.go', true],
  ['!src/\\w+\\.go', 'src/fü.go', false],
  ['src/[\\w-]+\\.go', 'src/日-本.go', true],
  ['src/\\W+', 'src/ü', false],
  ['src/\\d+/.*', 'src/٣/x', true],
  ['src/[^\\d]', 'src/٣', false],
  ['a\\sb', 'a\u00a0b', true],
  ['a\\Sb', 'a\u2003b', false],
  ['a[^\\s]b', 'a\u2003b', false],
  ['a{02}', 'aa', true],
  ['a{,2}', 'a{,2}', true],
  ['[a-c]{1,2}?/[+.-]', 'ab/-', true],
  ['[\\.-9]x', '/x', true],
  ['\\(a\\)\\/\\$', '(a)/$', true],
  ['(?:a|b)+/(c)', 'ab/c', true],
  ['🦊.', '🦊🦊', true],
];
for (const [pattern, path, owned] of gitea) {
  test(`Gitea: ${pattern} ${owned ? 'owns' : 'does not own'} ${JSON.stringify(path)}`, (t) => {
    t.is(owners(`${pattern.replaceAll('\\', '\\\\')} @bob`, path, 'gitea'), owned ? '@bob' : '');
  });
}

test('Gitea: owners are unknown where a pattern may mean something else', (t) => {
  const patterns = [
    ...[
      '[a-z-[aeiou]]',
      '[[:alpha:]]',
      '[\\W]',
      '[\\b]',
      '[\\ü]',
      '[\\_]',
      '[]a]',
      '[^]a]',
      '[\\--z]',
      '[--a]',
      '[a-\\-]',
      '[\\w-z]',
    ],
    ...[
      '\\bdocs',
      '\\Bdocs',
      '\\Adocs',
      'docs\\Z',
      '\\G',
      '\\h',
      '\\x64',
      '\\u0064',
      '\\e',
      '\\pL',
      '\\p{L}',
      '\\Qa\\E',
    ],
    ...['(a)\\1', '\\01', '\\k<a>', '\\<a>', "\\'a'", '\\_', '\\ü', '(?i)docs', '(?i:docs)', '(?x)do cs', '(?#a)docs'],
    ...[
      '(?s).',
      '(?P<a>docs)',
      '(?<a>docs)',
      '(?>docs)',
      '(?(a)b|c)',
      '(?)',
      'a++',
      'a**',
      'a{2}{3}',
      'a$b',
      '(a$|b)c',
      '$*',
    ],
  ];
  for (const pattern of patterns) {
    const line = `${pattern.replaceAll('\\', '\\\\').replaceAll(' ', '\\ ').replaceAll('#', '\\#')} @bob`;
    t.regex(owners(line, 'docs', 'gitea'), UNREADABLE, pattern);
  }
});

test('Gitea: a line with a set or a group that does not end is skipped', (t) => {
  for (const pattern of ['[ab', '[\\\\d\u00fc?', '(a', 'a)']) {
    t.is(owners(`${pattern} @bob\n.* @carol`, 'x', 'gitea'), '@carol', pattern);
  }
});

test('Gitea and Forgejo: only spaces and tabs end a pattern', (t) => {
  for (const dialect of ['gitea', 'forgejo'] as const) {
    t.is(owners('a\u00a0b\t@bob', 'a\u00a0b', dialect), '@bob');
  }
});

test('Forgejo: expressions are those of Go, without a leading slash', (t) => {
  t.is(owners('src/\\\\w+\\\\.go @bob', 'src/fu.go', 'forgejo'), '@bob');
  t.is(owners('!src/\\\\w+\\\\.go @bob', 'src/fü.go', 'forgejo'), '@bob');
  t.is(owners('!.*\\\\.md @bob', 'a.md\n', 'forgejo'), '@bob');
  t.is(owners('(?i)DOCS @bob', 'docs', 'forgejo'), '@bob');
  t.regex(owners('/docs/.* @bob', 'docs/a', 'forgejo'), UNREADABLE);
  t.regex(owners('!/docs/.* @bob', 'docs/a', 'forgejo'), UNREADABLE);
});

test('Gitea: no name of a file makes a change green without its owners', (t) => {
  const owned = [
    ['/docs/.*', 'docs/a'],
    ['docs/\\\\w+', 'docs/ü'],
    ['docs/\\\\d', 'docs/٣'],
    ['.*\\\\.md', 'a.md\n'],
    ['\\\\bdocs.*', 'docs/a'],
    ['(?=docs).*', 'docs/a'],
  ] as const;
  for (const [pattern, path] of owned) {
    const given: Given = { codeowners: `${pattern} @bob`, dialect: 'gitea', files: [{ path }] };
    t.not(requiring(rule, given).outcome, 'matched', pattern);
  }
});

test('nobody who cannot be an owner ever approves as one', (t) => {
  const by = (author: string, codeowners: string, dialect: CodeOwnersDialect = 'github') =>
    requiring(rule, { codeowners, dialect, files: [{ path: 'docs/a' }], reviews: [{ author }] }).outcome;
  for (const codeowners of ['* @sally\ndocs/ nobody', '* @sally\ndocs/ nobody mail@x.test @', 'docs/ nobody']) {
    t.is(by('nobody', codeowners), 'unmatched', codeowners);
  }
  t.is(by('sally', '* @sally\ndocs/ nobody'), 'matched');
  t.is(by('sally', 'docs/ nobody'), 'unmatched');
  t.is(by('carol', '* @sally\n/docs/\ndocs/ nobody'), 'unmatched', 'not green because of a misspelt owner');
  t.is(by('nobody@x', 'docs/.* nobody@x @a/b/c', 'gitea'), 'unmatched');
  t.is(by('sally', 'docs/.* nobody@x @sally', 'gitea'), 'matched');
});

test('GitHub: a line with an invalid owner needs its owners and those before it', (t) => {
  const given: Given = { codeowners: '* @sally\ndocs/ @bob nobody\n', files: [{ path: 'docs/a' }] };
  const by = (...logins: string[]) =>
    requiring(rule, { ...given, reviews: logins.map((author) => ({ author })) }).outcome;
  t.is(by('bob'), 'unmatched');
  t.is(by('sally'), 'unmatched');
  t.is(by('bob', 'sally'), 'matched');
  t.is(owners('* @sally\ndocs/ @bob nobody\ndocs/b @carol', 'docs/b'), '@carol');
});

test('a CODEOWNERS file with errors names their lines', (t) => {
  const faultsOf = (text: string, dialect: CodeOwnersDialect) => {
    const read = readCodeOwners(text, dialect);
    return read.kind === 'read' ? read.faults.map(({ line, what }) => `${line}: ${plain(what)}`) : [];
  };
  t.deepEqual(
    faultsOf('* @all # fine\n\n!docs @a\n[ab].js @b\n*.md docs@ @octo/docs x@y.test nobody\n/none\n', 'github'),
    [
      '3: "!docs" is no pattern, so the line is skipped',
      '4: "[ab].js" is no pattern, so the line is skipped',
      '5: "docs@", "nobody" cannot be an owner',
    ],
  );
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
  const never = [
    '@bob,',
    '@octo/core,',
    '@bob;',
    ';',
    '@bob\uff0c',
    '@a,@b',
    '@bob#x',
    '@@octo',
    '@',
    '@octo/',
    '@octo/a/b',
  ];
  for (const owner of never) {
    t.true(faulty(`docs/ ${owner}`), owner);
    t.is(requiring(rule, { codeowners: `docs/ ${owner}`, files: [{ path: 'docs/a' }] }).outcome, 'unmatched', owner);
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
  const by = (author: string, codeowners: string, dialect: CodeOwnersDialect = 'github') =>
    requiring(rule, { codeowners, dialect, files: [{ path: 'docs/a' }], reviews: [{ author }] }).outcome;
  const alone = [
    '@octo/core',
    '@octo/core @sally',
    '@sally # all',
    '@sally, @bob',
    '@sally,@bob',
    '@octo/core docs/',
    '@@octo',
  ];
  for (const dialect of ['github', 'gitea', 'forgejo'] as const) {
    for (const line of alone) {
      t.is(by('sally', line, dialect), 'unmatched', line);
      t.is(
        by('sally', `${line}\n/docs/a @sally`.replace('/docs', dialect === 'github' ? '/docs' : 'docs'), dialect),
        'matched',
        line,
      );
      t.is(by('carol', `.* @carol\n* @carol\n${line}`, dialect), 'matched', line);
      t.is(by('sally', `.* @carol\n* @carol\n${line}`, dialect), 'unmatched', line);
    }
  }
  for (const line of ['sally@x.test', 'sally@x.test @sally', '@octo[bot]']) {
    t.is(by('sally', line), 'unmatched', line);
  }
});

test('a path may begin with an at sign', (t) => {
  const paths: readonly (readonly [pattern: string, path: string, dialect?: CodeOwnersDialect])[] = [
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
  ];
  for (const [pattern, path, dialect = 'github'] of paths) {
    t.is(owners(`${pattern} @bob`, path, dialect), '@bob', pattern);
    t.is(owners(`${pattern} @bob`, 'x', dialect), '', pattern);
  }
});

test('GitHub: whatever is between words and lines, owners are the same', (t) => {
  const written = [
    'docs/\t@bob\t# of @carol',
    '\ufeffdocs/ @bob',
    '* @all\r\ndocs/ @bob\r\n',
    '  docs/ @bob @BOB',
    '[Docs] @x\n^[Docs]\n!docs/ @x\ndocs/ @bob',
  ];
  for (const text of [...written, 'docs/ @bob # \u2028 @carol', `docs/ @bob${' # '.repeat(50_000)}\u2028`]) {
    t.is(owners(text, 'docs/a'), '@bob', text.slice(0, 100));
  }
  t.is(owners('docs/\\#a\\b\\* @bob', 'docs/#ab*'), '@bob', 'a backslash takes the next character as it is');
  t.is(owners('* @all\ndocs/\\', 'docs/a'), '@all', 'nothing is escaped');
  t.is(owners('/ @bob', 'docs/a'), '');
});

test('what may not be read as it was meant is unusable', (t) => {
  const files = [{ path: 'docs/a' }];
  for (const codeowners of [
    Buffer.from('* @bob\n', 'utf16le').toString(),
    '* @bob\0',
    'd\ufffdcs/ @bob',
    `${'a'.repeat(100_000)} @bob`,
  ]) {
    t.is(requiring(rule, { codeowners, files }).outcome, 'undecided', JSON.stringify(codeowners.slice(0, 9)));
  }
  t.is(owners('# d\ufffdcs\n[\ufffd]\ndocs/ @bob', 'docs/a'), '@bob', 'what is no pattern does not matter');
  t.is(owners(`docs/${' @bob'.repeat(20_000)}`, 'docs/a'), '@bob');
  t.is(owners(`${'docs/'.repeat(60)} @bob`, `${'docs/'.repeat(60)}a`), '@bob');
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
  t.regex(commentOn(OWNED, given), /\| approvals for 1 of 5 files with owners \|/);
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
  const two = (approvals: string) =>
    `version: 1\nrules: [{ id: a, require: { approvals: { from: CODEOWNERS } } }, { id: b, require: { approvals: ${approvals} } }]`;
  const given = { codeowners: '* @bob @carol', files: [{ path: 'x' }] };
  const heads = (policy: string) => commentOn(policy, given).match(/^\| Files.*$/gm);
  t.deepEqual(heads(two('{ from: CODEOWNERS, fresh: true }')), ['| Files | Owners | Approved by | Missing |']);
  t.deepEqual(heads(two('{ from: CODEOWNERS, each: 2 }')), [
    '| Files, `a` | Owners | Approved by | Missing |',
    '| Files, `b` | Owners | Approved by | Missing |',
  ]);
});

test('the table of owners stays small, whatever CODEOWNERS and the change have', (t) => {
  const odd = '\u202e'.repeat(100);
  const lines = Array.from(
    { length: 80 },
    (_, line) => `/${line}/ ${Array.from({ length: 30 }, (_, at) => `@${odd}${at}`).join(' ')}\n!${odd}${line} @x\n`,
  );
  const files = Array.from({ length: 80 }, (_, line) => ({ path: `${line}/${odd.repeat(20)}` }));
  const rules = Array.from(
    { length: 90 },
    (_, id) => `  - { id: r${id}, require: { approvals: { from: [CODEOWNERS, u${id}] } } }\n`,
  ).join('');
  const waiting = '  - { id: last, require: { approvals: { from: [zoe] } } }\n';
  const codeowners = lines.join('');
  const one = commentOn(OWNED, { codeowners, files });
  t.true(one.length < 65_536, String(one.length));
  t.regex(one, /^\| and 70 more \| \| \| \|$|left out because this comment is full/m);
  const all = commentOn(`version: 1\nrules:\n${rules}${waiting}`, { codeowners, files });
  t.true(all.length < 65_536, String(all.length));
  t.regex(all, /^\| ⏳ \| 1 approval from `zoe` \|/m, 'no row of another rule is crowded out');
});

test('ten rows of owners are shown, and the others counted', (t) => {
  const files = Array.from({ length: 70 }, (_, index) => ({ path: `${index}/x` }));
  const codeowners = files.map((_, index) => `/${index}/ @bob`).join('\n');
  const rows = tableOn(OWNED, { codeowners, files });
  t.is(rows.length, 11);
  t.is(rows.at(-1), '| and 60 more | | | |');
});

// Several of the owners, and each of several groups

test('`each` asks for several owners of each file, whoever else may approve', (t) => {
  const files = [{ path: 'a/x' }, { path: 'b/x' }];
  const given = { codeowners: '/a/ @bob @carol\n/b/ @bob @carol @dave\n', files };
  const each = '{ approvals: { from: CODEOWNERS, each: 2 } }';
  const by = (...logins: string[]) => ({ ...given, reviews: logins.map((author) => ({ author })) });
  t.is(requiring(each, by('bob')).outcome, 'unmatched');
  t.is(requiring(each, by('bob', 'dave')).outcome, 'unmatched');
  t.is(requiring(each, by('bob', 'carol')).outcome, 'matched');
  t.is(requiring('{ approvals: { from: [CODEOWNERS, root], each: 1 } }', by('root')).outcome, 'unmatched');
  t.is(requiring('{ approvals: { from: [CODEOWNERS, root], each: 1 } }', by('bob')).outcome, 'matched');
  t.is(requiring('{ approvals: { from: [CODEOWNERS, root], count: 2, each: 1 } }', by('bob')).outcome, 'unmatched');
  t.is(
    requiring('{ approvals: { from: [CODEOWNERS, root], count: 2, each: 1 } }', by('bob', 'root')).outcome,
    'matched',
  );
  t.is(requiring('{ approvals: { from: [CODEOWNERS, bot1], each: 2 } }', by('bob', 'bot1')).outcome, 'unmatched');
  t.deepEqual(tableOn(OWNED.replace('[CODEOWNERS]', '[CODEOWNERS], each: 2'), by('bob')), [
    '| `a/x` | `bob`, `carol` | `bob` | `carol` |',
    '| `b/x` | `bob`, `carol`, `dave` | `bob` | 1 of `carol`, `dave` |',
  ]);
});

test('a file with fewer owners than `each` is never let through', (t) => {
  const given = { codeowners: '* @bob', files: [{ path: 'a' }], reviews: [{ author: 'bob' }] };
  t.is(requiring('{ approvals: { from: CODEOWNERS, each: 2 } }', given).outcome, 'unmatched');
});
