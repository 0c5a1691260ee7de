import { parseHunks } from '../../../src/review/predicates/hunks.ts';
import fc from '../../helpers/property.ts';
import test from '../../helpers/test.ts';

const PATCHES: readonly (readonly [what: string, patch: string, added: readonly string[], complete?: false])[] = [
  [
    'added lines carry the number that they have in the new file',
    '@@ -3,2 +5,3 @@ function a() {\n one\n+two\n three\n@@ -20 +23,2 @@\n+x\n y',
    ['6: two', '23: x'],
  ],
  ['what looks like a file header is content', '@@ -1,2 +1,2 @@\n--- a\n+++ b\n \n', ['1: ++ b']],
  ['what looks like a hunk header is content', '@@ -0,0 +1,2 @@\n+@@ -1 +1 @@\n+b\n', ['1: @@ -1 +1 @@', '2: b']],
  [
    'a missing newline is no line',
    '@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file',
    ['1: b'],
  ],
  ['CRLF is no part of a line, another CR is', '@@ -0,0 +1,2 @@\n+a\r\n+b\rc\r\n', ['1: a', '2: b\rc']],
  ['an empty context line may have lost its space', '@@ -1,2 +1,3 @@\n\n+b\n c\n', ['2: b']],
  ['nothing', '', []],
  ['a patch that breaks off', '@@ -1,2 +1,9 @@\n+a\n', ['1: a'], false],
  ['a binary file', 'Binary files differ', [], false],
  ['a header that is none', '@@ nonsense @@\n+a', [], false],
  ['a line that is none', '@@ -1 +1 @@\n?a', [], false],
  ['a line too many', '@@ -1 +1 @@\n+a\n+b', ['1: a', '2: b'], false],
];

for (const [what, patch, expected, complete = true] of PATCHES) {
  test(`a patch is read: ${what}`, (t) => {
    const { added, ...read } = parseHunks(patch);
    t.deepEqual(
      added.map(({ line, text }) => `${line}: ${text}`),
      expected,
    );
    t.is(read.complete, complete);
  });
}

const word = fc.string({ maxLength: 12 }).map((text) => text.replace(/[\r\n]/g, ' '));

test('whatever lines are added, exactly those are read back', (t) => {
  fc.assert(
    fc.property(fc.array(word, { minLength: 1, maxLength: 20 }), fc.integer({ min: 1, max: 9999 }), (lines, start) => {
      const patch = `@@ -0,0 +${start},${lines.length} @@\n${lines.map((line) => `+${line}`).join('\n')}`;
      t.deepEqual(parseHunks(patch), {
        added: lines.map((text, index) => ({ line: start + index, text })),
        complete: true,
      });
    }),
  );
});

test('no text makes it throw', (t) => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('@', '-', '+', ' ', '\n', '\\', '1', ',', 'x') }), (patch) => {
      parseHunks(patch);
      parseHunks(`@@ -1,3 +1,3 @@\n${patch}`);
    }),
  );
  t.pass();
});
