import test from 'ava';
import { compileName } from '../../../src/facts/authors/names.ts';
import { compileGlobs, globFault } from '../../../src/review/matching/glob.ts';
import { compilePattern } from '../../../src/review/matching/pattern.ts';
import { globsOf, namesOf } from '../../../translate/globs.ts';
import { fromJavaScript } from '../../../translate/patterns.ts';

/** Regular expressions of paths and branches, with what they become. */
const WRITTEN: readonly (readonly [source: string, globs: readonly string[]])[] = [
  ['^config/.*$', ['config/**']],
  ['^server/views/.*\\.tmpl$', ['server/views/**/*.tmpl']],
  ['^config/special\\.file$', ['config/special.file']],
  ['\\.md$', ['**/*.md']],
  ['.*', ['**']],
  ['^(main|release/.+)$', ['main', 'release/**']],
  ['^docs/|^README\\.md$', ['docs/**', 'README.md']],
  ['^src/[^/]+/index\\.[jt]s$', ['src/?*/index.[jt]s']],
  ['^release/\\d\\.x$', ['release/[0-9].x']],
  ['(?i)^readme$', ['[rR][eE][aA][dD][mM][eE]']],
  ['^a/.*/b$', ['a/*/**/b']],
  ['^go.mod$', ['go{?,/}mod']],
  ['^.github/.*$', ['?github/**']],
];

for (const [source, globs] of WRITTEN) {
  test(`${source} becomes ${globs.join(' and ')}`, (t) => {
    t.deepEqual(globsOf(source), { least: globs, most: globs, exact: true });
  });
}

const SOURCES = [
  ...WRITTEN.map(([source]) => source),
  ...['foo', '^foo', 'foo$', 'a/b', '^a.*b.*c$', '^.*/x$', '^x/.+$', 'x.+y', '^(a|b)/c?$', '^(?:a/)?b$', '^[^/]*\\.c$'],
  ...['[a-c]+/x', '^v\\d+\\.\\d+$', '^(a/)*b$', '^\\w+$', '^[^a]b$', '^a{2}b{1,2}$', '.', '^x.{2,}$', '^(.*)/(a|b)$'],
  ...['^a\\*b\\[c\\]$', '^a,b{?$', '^@s/p$', 'a\\(b', '^!a$', '(^a|b$)', '^a$|b', '^(a|b.*)c$', 'a.*', '^[.-]x$'],
];

/** Texts of the characters that the expressions are about, as paths: without empty parts. */
function pathsOf(seed: number): readonly string[] {
  let state = seed;
  const next = (bound: number): number => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor(state / 65_536) % bound;
  };
  const parts = [
    ...'abcxvy.1-',
    'foo',
    'src',
    'index.js',
    'docs',
    'config',
    'release',
    'go.mod',
    'go',
    'mod',
    '.md',
    '*',
    '[c]',
    '!a',
    '@s',
  ];
  return Array.from({ length: 3_000 }, () =>
    Array.from({ length: 1 + next(4) }, () =>
      Array.from({ length: 1 + next(3) }, () => parts[next(parts.length)] ?? '').join(''),
    ).join('/'),
  );
}

test('globs match no path more or less than the expression that they are made of', (t) => {
  const named = [
    'config/a',
    'config',
    'server/views/a/b.tmpl',
    'server/views/.tmpl',
    'src/a/index.ts',
    'README.md',
    'a/x/y/b',
  ];
  const paths = [...named, ...pathsOf(1)];
  let matches = 0;
  for (const source of SOURCES) {
    const globs = globsOf(source);
    if (globs === undefined) {
      continue;
    }
    t.deepEqual(
      [...globs.least, ...globs.most].flatMap((glob) => globFault(glob) ?? []),
      [],
      source,
    );
    const pattern = compilePattern(source);
    const [least, most] = [globs.least, globs.most].map((side) => (side.length === 0 ? undefined : compileGlobs(side)));
    for (const path of paths) {
      const found = pattern.found(path);
      matches += found ? 1 : 0;
      t.true(!(least?.matches(path) ?? false) || found, `${source} does not match ${path}, and ${globs.least} does`);
      t.true(!found || (most?.matches(path) ?? false), `${source} matches ${path}, and ${globs.most} does not`);
      t.true(!globs.exact || least?.matches(path) === found, `${source}: ${path}`);
    }
  }
  t.true(matches > 5_000, `${matches} matches`);
});

test('names match no label more or less than the expression that they are made of', (t) => {
  const sources = [
    'wip|work in progress',
    '^type/',
    '^bug$',
    'a.b',
    '^[wW]ip$',
    '^(a|b)c?$',
    'x+',
    '^size/(S|M)$',
    'a*',
    '^v\\d',
  ];
  const labels = [
    'wip',
    'WIP',
    'a wip b',
    'work in progress',
    'type/x',
    'my type/x',
    'bug',
    'bugs',
    'a.b',
    'axb',
    'ac',
    'a',
    'bc',
    'c',
  ];
  for (const source of sources) {
    const names = namesOf(source);
    const pattern = compilePattern(`(?i)${source}`);
    for (const label of [...labels, 'xx', 'size/S', 'size/L', 'v1', 'va']) {
      const found = pattern.found(label);
      const [least, most] = [names?.least, names?.most].map((side) =>
        side?.some((name) => compileName(name).matches(label)),
      );
      t.true(!least || found, `${source} does not match ${label}`);
      t.true(!found || most, `${source} matches ${label}`);
      t.true(names?.exact !== true || least === found, `${source}: ${label}`);
    }
  }
});

test('an expression that no glob can be made of is refused, and not guessed', (t) => {
  for (const source of [
    '^(?!main$).*$',
    'a\\b',
    '(a)\\1',
    '^a^b$',
    'a$b',
    '[[:alpha:]]',
    'x{',
    '(a',
    'a)',
    '\\p{L}',
    'a**',
    `^${'a'.repeat(501)}$`,
  ]) {
    t.is(globsOf(source), undefined, source);
    t.is(namesOf(source), undefined, source);
  }
});

test('repetitions of repetitions and many alternatives do not grow without end', (t) => {
  const hostile = [
    `^${'('.repeat(60)}a${'{99})'.repeat(60)}$`,
    `^${'('.repeat(80)}a${'{3})'.repeat(80)}$`,
    `^${'('.repeat(80)}a${'?){3}'.repeat(80)}$`,
    `^${'('.repeat(60)}a|b${'){2,3}'.repeat(60)}$`,
    '(a|b)'.repeat(90),
    '(a?|b*)'.repeat(70),
  ];
  for (const source of hostile) {
    for (const made of [globsOf(source), namesOf(source)]) {
      t.true([...(made?.least ?? []), ...(made?.most ?? [])].join('').length < 100_000, source);
    }
  }
});

test('what JavaScript and RE2 read differently is refused', (t) => {
  t.deepEqual(fromJavaScript('^feat', 'i'), { pattern: '(?i)^feat' });
  t.deepEqual(fromJavaScript('a\\\\Qb', ''), { pattern: 'a\\\\Qb' });
  for (const [source, flags] of [
    ['(?=x)a', 'i'],
    ['\\p{L}', 'i'],
    ['\\Aa', ''],
    ['(?i)a', ''],
    ['a', 'g'],
    ['[[:alpha:]]', ''],
    ['\\u00e9', ''],
    ['(', 'i'],
  ] as const) {
    t.true('fault' in fromJavaScript(source, flags), source);
  }
});
