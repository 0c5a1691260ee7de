import { countLines, diffOfPatch, MAX_PATCH_LENGTH, splitDiff } from '../../../src/forges/diff.ts';
import fc from '../../helpers/property.ts';
import test from '../../helpers/test.ts';
import { compareTrees, printDiff } from '../../simulated-forge/tree-diff.ts';

/** As `git diff` prints them, core.quotePath being on for the one in quotes. */
const DIFF = [
  'diff --git a/src/app.ts b/src/app.ts',
  'index 4cb29ea..c5bd3f1 100644',
  '--- a/src/app.ts',
  '+++ b/src/app.ts',
  '@@ -1,3 +1,4 @@ function main() {',
  ' one',
  '-two',
  '+2',
  ' three',
  '+four',
  '@@ -10 +11,0 @@',
  '-ten',
  'diff --git a/with space.txt b/with space.txt',
  'new file mode 100644',
  'index 0000000..ce01362',
  '--- /dev/null',
  '+++ b/with space.txt\t',
  '@@ -0,0 +1 @@',
  '+hello',
  'diff --git a/gone.txt b/gone.txt',
  'deleted file mode 100644',
  'index ce01362..0000000',
  '--- a/gone.txt',
  '+++ /dev/null',
  '@@ -1 +0,0 @@',
  '-bye',
  '\\ No newline at end of file',
  'diff --git a/old.md b/new name.md',
  'similarity index 100%',
  'rename from old.md',
  'rename to new name.md',
  'diff --git a/logo.png b/logo.png',
  'index 1111111..2222222 100644',
  'Binary files a/logo.png and b/logo.png differ',
  'diff --git a/run.sh b/run.sh',
  'old mode 100644',
  'new mode 100755',
  'diff --git "a/\\303\\251 \\"quoted\\".txt" "b/\\303\\251 \\"quoted\\".txt"',
  'index 1111111..2222222 100644',
  '--- "a/\\303\\251 \\"quoted\\".txt"',
  '+++ "b/\\303\\251 \\"quoted\\".txt"',
  '@@ -1 +1 @@',
  '-a',
  '+b',
  '',
].join('\n');

test('a diff is split into its files, each with how it changed and its hunks alone', (t) => {
  const copied = ['diff --git a/x b/y', 'similarity index 100%', 'copy from x', 'copy to y', ''].join('\n');
  const files = [...splitDiff(DIFF).values(), ...splitDiff(copied).values()];
  t.deepEqual(
    files.map(({ path, previousPath = '-', status, additions, deletions, diff }) => [
      `${status} ${path} ${previousPath} ${diff.kind} +${additions} -${deletions}`,
      diff.kind === 'text' ? diff.patch : undefined,
    ]),
    [
      [
        'modified src/app.ts - text +2 -2',
        '@@ -1,3 +1,4 @@ function main() {\n one\n-two\n+2\n three\n+four\n@@ -10 +11,0 @@\n-ten',
      ],
      ['added with space.txt - text +1 -0', '@@ -0,0 +1 @@\n+hello'],
      ['removed gone.txt - text +0 -1', '@@ -1 +0,0 @@\n-bye\n\\ No newline at end of file'],
      ['renamed new name.md old.md text +0 -0', ''],
      ['modified logo.png - binary +0 -0', undefined],
      ['modified run.sh - text +0 -0', ''],
      ['modified é "quoted".txt - text +1 -1', '@@ -1 +1 @@\n-a\n+b'],
      ['added y - text +0 -0', ''],
    ],
  );
});

test('nothing inside a file passes for another file', (t) => {
  const lines = [
    '--- a/fake',
    '+++ b/fake',
    'diff --git a/fake b/fake',
    '@@ -1 +1 @@',
    'Binary files a/x and b/y differ',
  ];
  const diff = [
    'diff --git a/real.txt b/real.txt',
    '--- a/real.txt',
    '+++ b/real.txt',
    `@@ -1,${lines.length} +1,${lines.length} @@`,
    ...lines.map((line) => `-${line}`),
    ...lines.map((line) => `+${line}`),
    '',
  ].join('\n');
  const files = splitDiff(diff);
  t.deepEqual([...files.keys()], ['real.txt']);
  t.like(files.get('real.txt'), { additions: 5, deletions: 5, diff: { kind: 'text' } });
});

test('a carriage return belongs to its line', (t) => {
  const diff = 'diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n-a\r\n+a\rb\r\n+c\r\n';
  t.deepEqual(splitDiff(diff).get('x')?.diff, { kind: 'text', patch: '@@ -1 +1,2 @@\n-a\r\n+a\rb\r\n+c\r' });
});

test('a patch that is too long is too large, and its lines are still counted', (t) => {
  const lines = Math.ceil(MAX_PATCH_LENGTH / 10);
  const diff = `diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -0,0 +1,${lines} @@\n${'+123456789\n'.repeat(lines)}`;
  t.like(splitDiff(diff).get('x'), { additions: lines, deletions: 0, diff: { kind: 'too-large' } });
});

test('what is no diff has no files', (t) => {
  for (const nonsense of ['', '\n', 'hello', '<html>', 'diff --git', 'diff --git a/x', '@@ -1 +1 @@\n-a\n+b']) {
    t.is(splitDiff(nonsense).size, 0, nonsense);
  }
});

test('lines of a patch are counted by its hunks', (t) => {
  const patch = '@@ -1,2 +1,2 @@\n-- minus\n+++ plus\n same\n@@ -9 +9 @@\n-x\n\\ No newline at end of file\n+x';
  t.deepEqual(countLines(patch), { additions: 2, deletions: 2 });
  t.deepEqual(countLines(''), { additions: 0, deletions: 0 });
});

const lines = fc.array(fc.constantFrom('a', 'b', '', '-- x', '++ y', '@@ -1 +1 @@', 'diff --git a/q b/q', 'c\r'), {
  maxLength: 30,
});
const text = fc
  .tuple(lines, fc.constantFrom('', '\n'))
  .map(([some, end]) => some.join('\n') + (some.length ? end : ''));

test('whatever two versions differ by, the parser finds what the differ wrote', (t) => {
  fc.assert(
    fc.property(text, text, (before, after) => {
      const changes = compareTrees(new Map([['x', Buffer.from(before)]]), new Map([['x', Buffer.from(after)]]));
      const file = splitDiff(printDiff(changes)).get('x');
      t.is(file === undefined, before === after);
      if (file !== undefined) {
        t.like(file, { additions: changes[0]?.additions, deletions: changes[0]?.deletions });
        t.deepEqual(file.diff, { kind: 'text', patch: changes[0]?.patch ?? '' });
      }
    }),
  );
});

test('no text makes the parser throw or run on', (t) => {
  const heads = ['diff --git a/x b/x', '--- a/x', '+++ b/x', '@@ -1,9 +1,9 @@'];
  const rows = fc.constantFrom(...heads, '@@ -', '+', '-', '\\', '');
  fc.assert(
    fc.property(fc.array(fc.oneof(rows, fc.string()), { maxLength: 40 }), (some) => {
      t.true(splitDiff(some.join('\n')).size <= 40);
    }),
  );
});

test('a file that becomes a link is one modified file, with the lines of both', (t) => {
  const removed = ['deleted file mode 100644', 'index 7898192..0000000', '--- a/app.ts', '+++ /dev/null'];
  const added = ['new file mode 120000', 'index 0000000..63d8dbd', '--- /dev/null', '+++ b/app.ts'];
  const hunks = [
    ['@@ -1 +0,0 @@', '-one'],
    ['@@ -0,0 +1 @@', '+lib.ts', '\\ No newline at end of file'],
  ] as const;
  const header = 'diff --git a/app.ts b/app.ts';
  const diff = [header, ...removed, ...hunks[0], header, ...added, ...hunks[1]];
  t.deepEqual(
    [...splitDiff(diff.join('\n')).values()],
    [
      {
        path: 'app.ts',
        previousPath: undefined,
        status: 'modified',
        additions: 1,
        deletions: 1,
        diff: { kind: 'text', patch: hunks.flat().join('\n') },
      },
    ],
  );
});

test('a diff that ends within a hunk leaves out the file that it ends in', (t) => {
  const one = 'diff --git a/one b/one\n--- a/one\n+++ b/one\n@@ -1 +1 @@\n-1\n+one\n';
  const two = 'diff --git a/two b/two\n--- a/two\n+++ b/two\n@@ -1,2 +1,3 @@\n 1\n+2\n';
  t.deepEqual([...splitDiff(one + two).keys()], ['one']);
});

test('a pointer to content elsewhere is like a binary file, and mentioning one is not', (t) => {
  const submodule = `Subproject commit ${'1'.repeat(40)}`;
  const lfs = 'version https://git-lfs.github.com/spec/v1';
  for (const [patch, kind] of [
    [`@@ -0,0 +1 @@\n+${submodule}`, 'binary'],
    [`@@ -1 +1 @@\n-Subproject commit ${'2'.repeat(40)}\n+${submodule}`, 'binary'],
    [`@@ -0,0 +1,3 @@\n+${lfs}\n+oid sha256:1\n+size 1`, 'binary'],
    [`@@ -1 +0,0 @@\n-${submodule}`, 'text'],
    [`@@ -0,0 +1,2 @@\n+${submodule}\n+debugger`, 'text'],
    [`@@ -7 +7,2 @@\n line\n+${lfs}`, 'text'],
  ] as const) {
    t.is(diffOfPatch(patch).kind, kind, patch);
  }
});
