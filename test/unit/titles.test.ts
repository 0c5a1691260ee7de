import { readdir, readFile } from 'node:fs/promises';
import test from 'ava';

const TESTS = new URL('../', import.meta.url);
/** Exclusive. A longer title does not fit into a line of a report. */
const MAX_TITLE_CHARACTERS = 80;
/** The title of `test(…)` or `test.before(…)`, where it is written out. */
const TITLE = /\btest(?:\.\w+)*\(\s*(?:'((?:\\.|[^'\\])*)'|"((?:\\.|[^"\\])*)"|`((?:\\.|[^`\\])*)`)/g;

function titlesIn(source: string): readonly string[] {
  return [...source.matchAll(TITLE)].map(([, single, double, template]) => single ?? double ?? template ?? '');
}

test(`every title of a test has fewer than ${MAX_TITLE_CHARACTERS} characters`, async (t) => {
  const files = (await readdir(TESTS, { recursive: true })).filter((path) => path.endsWith('.test.ts'));
  const sources = await Promise.all(files.map((path) => readFile(new URL(path, TESTS), 'utf8')));
  const titles = sources.flatMap((source, index) => titlesIn(source).map((title) => ({ file: files[index], title })));
  t.true(titles.length > 600);
  t.deepEqual(
    titles.filter(({ title }) => title.length >= MAX_TITLE_CHARACTERS),
    [],
  );
});

test('titles are found in any quotes, and after a line break', (t) => {
  const source = ["test('it\\'s one', f);", 'test.serial(', '  "two",', 'test(`three`, f);'].join('\n');
  t.deepEqual(titlesIn(source), ["it\\'s one", 'two', 'three']);
});
