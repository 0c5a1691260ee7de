import picomatch from 'picomatch';
import { compileName } from '../../../src/facts/authors/names.ts';
import { compileGlobs, globFault } from '../../../src/review/matching/glob.ts';
import fc from '../../helpers/property.ts';
import { sized } from '../../helpers/size.ts';
import test from '../../helpers/test.ts';

const matches = (globs: string | readonly string[], path: string): boolean =>
  compileGlobs(typeof globs === 'string' ? [globs] : globs).matches(path);

/** With what the comparison with picomatch seldom draws. */
const GLOBS: readonly (readonly [glob: string, matching: string, other?: string])[] = [
  ['src/**', 'src/a/b', 'src'],
  ['src/*', 'src/.env', 'other/src/a'],
  ['**/*.ts', 'a/b/c.ts', 'a/b/c.tsx'],
  ['**/*.ts', 'a.ts', 'a.tsx'],
  ['src/**/b', 'src/b', 'src/xb'],
  ['src/**/b', 'src/x/y/b', 'b'],
  ['*.ts', 'a.ts', 'A.TS'],
  ['*.{ts,tsx}', 'a.tsx', 'a.t'],
  ['{src/**,b}', 'src/a/b', 'src'],
  ['{{a,b},c}.ts', 'b.ts', 'd.ts'],
  ['[a-c]x', 'bx', 'dx'],
  ['[!a-c]x', 'dx', 'bx'],
  ['[!a]', 'b', '/'],
  ['[]]x', ']x', '[x'],
  ['a?c', 'abc', 'a/c'],
  ['a.c', 'a.c', 'abc'],
  ['src/**.ts', 'src/a.ts', 'src/a/b.ts'],
  ['app/(group)/page.tsx', 'app/(group)/page.tsx'],
  ['app/\\[id\\]/page.tsx', 'app/[id]/page.tsx'],
  ['a+b $1^', 'a+b $1^'],
  ['ü*', 'über'],
];

for (const [glob, matching, other] of GLOBS) {
  test(`${glob} matches ${matching}${other === undefined ? '' : `, and not ${other}`}`, (t) => {
    t.true(matches(glob, matching));
    t.false(other !== undefined && matches(glob, other));
  });
}

test('a path matches a glob and no excluding glob, in any order', (t) => {
  t.true(matches(['src/**', '!**/*.md'], 'src/a.ts'));
  t.false(matches(['src/**', '!**/*.md'], 'src/a.md'));
  t.false(matches(['!**/*.md', 'src/**'], 'src/a.md'));
  t.true(matches(['!**/*.md'], 'a.ts'));
});

test('what cannot be meant is refused with the reason', (t) => {
  const faults: readonly (readonly [string, RegExp])[] = [
    ['', /empty/],
    ['!', /empty/],
    ['/src/**', /leave out the leading "\/"/],
    ['./src/**', /leave out the leading ".\/"/],
    ['src/', /end the glob with "\/\*\*"/],
    ['+(a|b)', /extended globs/],
    ['a@(b)', /extended globs/],
    ['[a', /never closed/],
    ['{a,b', /never closed/],
    ['{a}', /alternatives/],
    ['{1..3}', /alternatives/],
    ['[z-a]', /not a valid/],
    ['a\\', /cannot end/],
    ['a'.repeat(201), /200 characters/],
  ];
  for (const [glob, fault] of faults) {
    t.regex(globFault(glob) ?? 'no fault', fault, glob);
  }
  t.is(globFault('!(a)'), undefined, 'an exclusion of the file "(a)"');
});

const segment = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('a', 'b', 'ab', '.a', 'a.b', 'src') },
  {
    weight: 2,
    arbitrary: fc.constantFrom('*', '**', '?', 'a*', '*b', '*.*', '[ab]', '[^a]', 'a?', '{a,b}', '{a,.a}b'),
  },
);
const globs = fc.array(segment, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'));
const paths = fc
  .array(fc.constantFrom('a', 'b', 'ab', 'aab', '.a', 'a.b', 'src', 'bb', '.ab'), { minLength: 1, maxLength: 4 })
  .map((parts) => parts.join('/'));

test('ordinary globs mean what picomatch takes them to mean', (t) => {
  fc.assert(
    fc.property(globs, paths, (glob, path) => {
      // Two deliberate differences: `a/**` is what lies beneath `a` and not `a` itself, and `**` repeated is as one.
      if (/\*\*\/\*\*/.test(glob) || (glob.endsWith('/**') && matches(glob.slice(0, -3), path))) {
        return;
      }
      t.is(matches(glob, path), picomatch.isMatch(path, glob, { dot: true }), `${glob} on ${path}`);
    }),
    { numRuns: sized(750, 3_000) },
  );
});

test('no text makes a glob throw: it is refused, or it compiles', (t) => {
  const characters = fc.constantFrom(...'*?[]{},!\\/.-^()a+@|💥\n');
  fc.assert(
    fc.property(fc.string({ unit: characters, maxLength: 30 }), paths, (glob, path) => {
      if (globFault(glob) === undefined) {
        matches(glob, path);
      }
    }),
    { numRuns: sized(750, 3_000) },
  );
  t.pass();
});

test('hostile globs are matched with a long path without backtracking', (t) => {
  const path = `${'a'.repeat(4000)}c`;
  const hostile = [
    '*a'.repeat(100),
    `${'**/'.repeat(60)}b`,
    '{a,aa}'.repeat(33),
    `${'{'.repeat(40)}a${',b}'.repeat(40)}`,
    '?*'.repeat(100),
    '[ab]*'.repeat(40),
  ];
  for (const glob of hostile) {
    t.is(globFault(glob), undefined, glob);
    t.false(matches(glob, `${path}/`));
  }
});

test('names are compared whole, in any case, with stars', (t) => {
  const name = (pattern: string, login: string) => compileName(pattern).matches(login);
  t.true(name('renovate[bot]', 'Renovate[bot]'));
  t.true(name('*[bot]', 'x[bot]'));
  t.false(name('bob', 'bobby'));
  t.false(name('b.b', 'bob'));
});
