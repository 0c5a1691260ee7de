import { parseHunks } from '../../../src/review/predicates/hunks.ts';
import fc from '../../helpers/property.ts';
import test from '../../helpers/test.ts';

test('added lines carry the number that they have in the new file', (t) => {
  const { added, complete } = parseHunks('@@ -3,2 +5,3 @@ function a() {\n one\n+two\n three\n@@ -20 +23,2 @@\n+x\n y');
  t.true(complete);
  t.deepEqual(added, [
    { line: 6, text: 'two' },
    { line: 23, text: 'x' },
  ]);
});

test('lines that look like file headers are content', (t) => {
  const { added, complete } = parseHunks('@@ -1,2 +1,2 @@\n--- a\n+++ b\n \n');
  t.true(complete);
  t.deepEqual(added, [{ line: 1, text: '++ b' }]);
});

test('a line that looks like a hunk header is content while the hunk lasts', (t) => {
  t.deepEqual(parseHunks('@@ -0,0 +1,2 @@\n+@@ -1 +1 @@\n+b\n').added, [
    { line: 1, text: '@@ -1 +1 @@' },
    { line: 2, text: 'b' },
  ]);
});

test('a missing newline at the end is no line of its own', (t) => {
  const patch = '@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file';
  t.deepEqual(parseHunks(patch), { added: [{ line: 1, text: 'b' }], complete: true });
});

test('CRLF line ends are not part of a line, and other carriage returns are', (t) => {
  t.deepEqual(parseHunks('@@ -0,0 +1,2 @@\n+a\r\n+b\rc\r\n').added, [
    { line: 1, text: 'a' },
    { line: 2, text: 'b\rc' },
  ]);
});

test('an empty context line may have lost its space', (t) => {
  t.deepEqual(parseHunks('@@ -1,2 +1,3 @@\n\n+b\n c\n'), { added: [{ line: 2, text: 'b' }], complete: true });
});

test('an empty patch is complete, and one that breaks off or is something else is not', (t) => {
  t.true(parseHunks('').complete);
  for (const patch of [
    '@@ -1,2 +1,9 @@\n+a\n',
    'Binary files differ',
    '@@ nonsense @@\n+a',
    '@@ -1 +1 @@\n?a',
    '@@ -1 +1 @@\n+a\n+b',
  ]) {
    t.false(parseHunks(patch).complete, patch);
  }
});

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
