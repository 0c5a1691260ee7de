import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { cellsIn, proseIn, sentencesIn, wordsIn } from '../helpers/prose.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Of all pages together. */
const MAX_WORDS = 24_000;
/** Of one page, unless it is named below. */
const MAX_WORDS_OF_A_PAGE = 700;
/** What people read from top to bottom is short; a reference may be longer. A page that shrinks gets a smaller number. */
const BUDGETS: Readonly<Record<string, number>> = {
  'docs/alerts.md': 1_400,
  'docs/development.md': 1_700,
  'docs/forges.md': 3_700,
  'docs/operations.md': 3_500,
  'docs/performance.md': 800,
  'docs/prove.md': 1_200,
  'docs/rules.md': 3_900,
  'docs/sizing.md': 950,
};

const MAX_WORDS_OF_A_SENTENCE = 30;

/** Of the tables of all pages together: a table is not where a page hides its prose. */
const MAX_WORDS_IN_TABLES = 12_500;
const MAX_WORDS_OF_A_CELL = 40;

/** Not the changelog, and not what programs write: the lists of metrics and settings. */
const LEFT_OUT = ['CHANGELOG.md', 'docs/metrics.md', 'docs/settings.md'];

const pagesIn = async (folder: string) =>
  (await readdir(ROOT + folder)).filter((name) => name.endsWith('.md')).map((name) => `${folder}${name}`);

const PAGES = [
  ...(await pagesIn('')),
  ...(await pagesIn('docs/')),
  'charts/gatehouse/README.md',
  'test/simulated-forge/README.md',
].filter((page) => !LEFT_OUT.includes(page));

interface Page {
  readonly prose: readonly string[];
  readonly cells: readonly string[];
}

async function readPage(page: string): Promise<readonly [string, Page]> {
  const markdown = await readFile(ROOT + page, 'utf8');
  return [page, { prose: proseIn(markdown), cells: cellsIn(markdown) }];
}

const pages = new Map(await Promise.all(PAGES.map(readPage)));

const wordsOf = (texts: readonly string[]) => texts.map(wordsIn).reduce((sum, words) => sum + words, 0);

for (const [page, { prose, cells }] of pages) {
  test(`${page} is not longer than its readers have time for`, (t) => {
    const most = BUDGETS[page] ?? MAX_WORDS_OF_A_PAGE;
    const words = wordsOf(prose);
    t.log(`${words} words of prose, ${wordsOf(cells)} in tables`);
    t.true(words <= most, `${words} words of prose, at most ${most}`);
  });

  test(`${page} has no sentence that has to be read twice`, (t) => {
    const long = prose.flatMap(sentencesIn).filter((text) => wordsIn(text) > MAX_WORDS_OF_A_SENTENCE);
    t.deepEqual(long, []);
  });

  test(`${page} has no cell of a table that is a page of its own`, (t) => {
    t.deepEqual(
      cells.filter((text) => wordsIn(text) > MAX_WORDS_OF_A_CELL),
      [],
    );
  });
}

test('the documents together are not longer than a short book', (t) => {
  t.true(PAGES.length > 20, 'the pages were found');
  const [words, inTables] = [
    wordsOf([...pages.values()].flatMap(({ prose }) => prose)),
    wordsOf([...pages.values()].flatMap(({ cells }) => cells)),
  ];
  t.log(`${words} words of prose, ${inTables} in tables`);
  t.true(words <= MAX_WORDS, `${words} words of prose`);
  t.true(inTables <= MAX_WORDS_IN_TABLES, `${inTables} words in tables`);
});

for (const [page, most] of [
  ['README.md', 750],
  ['CHANGELOG.md', 600],
] as const) {
  test(`${page} has at most ${most} words, with its code`, async (t) => {
    const words = (await readFile(ROOT + page, 'utf8')).split(/\s+/).filter((word) => word !== '');
    t.true(words.length <= most, `${words.length} words`);
  });
}

test('words and sentences are counted apart from tables, without blocks of code', (t) => {
  const markdown =
    '# A title\n\nOne two `x y. z`\nthree. Four: five?\n\n| a | b |\n|---|---|\n| c | d |\n\n```sh\ne f\n```\n';
  t.deepEqual(proseIn(markdown), ['A title', 'One two x_y__z three. Four: five?']);
  t.deepEqual(cellsIn(markdown), ['a', 'b', 'c', 'd']);
  t.is(wordsIn('One – two `three` 4 ('), 4);
  t.deepEqual(sentencesIn('One two. Three (four.) Five?'), ['One two.', 'Three (four.)', 'Five?']);
});
