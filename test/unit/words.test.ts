import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Phrases that a reader stumbles over, and what to write. */
const PHRASES: readonly (readonly [RegExp, string])[] = [
  [/\b(?:is|are|was|were) another than\b/, 'differs from'],
  [/\b(?:is|are|was|that) of before\b/, 'is older, is from before that'],
  [/\bit is taken that\b/i, 'counts as'],
  [/\b(?:has|have) not the\b/, 'lacks the'],
  [/\b(?<!there )(?:is|are|was|were) to (?:be|come|do|get|go|have|merge|send|stand)\b/, 'must, will, should'],
  [/\b(?:is|are|was|were) told so\b/, 'learns it; say who says what'],
  [/\b(?:may|can|must) be passed over\b/, 'can be ignored'],
  [/\bknown of then\b/, 'no longer known'],
  [/\bafter a minute and what it is at then\b/, 'say what is compared with what'],
  [/\bthe one of `/i, 'name the thing again'],
  [/\bmended\b/, 'fixed'],
  [/\blet no \w+ \w+\b/i, 'nobody, nothing, must not'],
  [/\bwhat (?:becomes|became|came|comes|has become) of\b/i, 'the result of, what happens to'],
  [/\blikewise\b/i, 'also, in the same way'],
  [/\b(?:is|are) ill\b/, 'does not answer, is down'],
  [/\bin its stead\b/, 'instead'],
  [/\bof its own accord\b/, 'by itself'],
  [/\b(?:is|are) taken for (?!bytes)/, 'counts as'],
  [/\bbut for (?:what|the|those)\b/, 'except'],
  [/\bgo(?:es)? on where\b/, 'continues where'],
  [/\bupon\b/, 'on'],
  [/\bfor ever\b/, 'forever'],
  [/\bthe one (?:of|that comes with) the\b/, 'name the thing again'],
  [/\b(?:is|are) told (?!apart|to\b|otherwise)/, 'is reported, is shown, gets; say who says what'],
  [/\b[Ww]ere (?:it|they) (?:cut|taken|to)\b/, 'if it is, if it was'],
  [/\bit is (?:read|shown) (?:what|which|who)\b/, 'begin with what is read or shown'],
  [/\b(?:that|those) of now\b|\bof then\b/, 'the present one, at that time'],
  [/\bothers than\b/, 'people other than'],
  [/\b(?:queues?|after|of|than) a look at\b/i, 'a resync of, reading'],
  [/\blook(?:s|ed)? (?:first )?(?:who|whether)\b/i, 'check'],
  [/\bnobody knows\b/, 'is unknown'],
  [/\bstands? no more\b/, 'was removed, was withdrawn'],
  [/\bunless given\b/i, 'by default'],
];

/** Files with prose for people: code, documents and the chart. Not this one, and not the texts of others. */
const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: ROOT })
  .toString()
  .split('\0')
  .filter((file) =>
    /^(?:src|test|bench|demo|docs|release|charts)\/.*\.(?:ts|md|ya?ml|tpl|txt|sql)$|^[A-Z]+\.md$/.test(file),
  )
  .filter((file) => !file.startsWith('test/fixtures/') && file !== 'test/unit/words.test.ts');

test('no text has a phrase that readers stumble over', (t) => {
  t.true(files.length > 500, 'the files were found');
  const found = files.flatMap((file) =>
    read(file)
      .split('\n')
      .flatMap((line, index) =>
        PHRASES.filter(([phrase]) => phrase.test(line)).map(
          ([phrase, better]) => `${file}:${index + 1}: ${phrase.exec(line)?.[0]} (write: ${better})`,
        ),
      ),
  );
  t.deepEqual(found, []);
});

/** Biome keeps code as narrow and leaves comments alone. */
const MAX_COMMENT_COLUMNS = 120;
/** Not one that is an address: it cannot be broken. */
const COMMENT = /^\s*(?:\/\/|\/?\*)(?! https:\/\/\S+$)/;

test(`no comment in src is wider than ${MAX_COMMENT_COLUMNS} columns`, (t) => {
  const wide = files
    .filter((file) => /^src\/.*\.ts$/.test(file))
    .flatMap((file) =>
      read(file)
        .split('\n')
        .filter((line) => line.length > MAX_COMMENT_COLUMNS && COMMENT.test(line))
        .map((line) => `${file}: ${line}`),
    );
  t.deepEqual(wide, []);
});

test('no comment in src begins with Of: it says what it describes first', (t) => {
  const found = files
    .filter((file) => /^src\/.*\.ts$/.test(file))
    .flatMap((file) =>
      read(file)
        .split('\n')
        .filter((line) => /(?:\/\*\*|\/\/|^\s+\*) Of /.test(line))
        .map((line) => `${file}: ${line}`),
    );
  t.deepEqual(found, []);
});

/** A file that is deleted and not committed yet is listed all the same. */
function read(file: string): string {
  try {
    return readFileSync(join(ROOT, file), 'utf8');
  } catch {
    return '';
  }
}
