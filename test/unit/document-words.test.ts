import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { proseIn, sentencesIn, wordsIn } from '../helpers/prose.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Of all pages together. */
const MAX_WORDS = 24_250;
/** Of one page, unless it is named below. */
const MAX_WORDS_OF_A_PAGE = 700;
/** What people read from top to bottom is short; a reference may be longer. A page that shrinks gets a smaller number. */
const BUDGETS: Readonly<Record<string, number>> = {
  'docs/alerts.md': 1_400,
  'docs/development.md': 1_700,
  'docs/forges.md': 3_700,
  'docs/ledger.md': 800,
  'docs/operations.md': 3_600,
  'docs/performance.md': 800,
  'docs/prove.md': 1_200,
  'docs/rules.md': 3_900,
  'docs/sizing.md': 950,
};

const MAX_WORDS_OF_A_SENTENCE = 30;
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

const texts = new Map(
  await Promise.all(PAGES.map(async (page) => [page, proseIn(await readFile(ROOT + page, 'utf8'))] as const)),
);

const wordsOf = (page: string) => (texts.get(page) ?? []).map(wordsIn).reduce((sum, words) => sum + words, 0);

for (const page of PAGES) {
  test(`${page} is not longer than its readers have time for`, (t) => {
    const most = BUDGETS[page] ?? MAX_WORDS_OF_A_PAGE;
    t.true(wordsOf(page) <= most, `${wordsOf(page)} words of prose, at most ${most}`);
  });

  test(`${page} has no sentence that has to be read twice`, (t) => {
    const long = (texts.get(page) ?? []).flatMap(sentencesIn).filter((text) => wordsIn(text) > MAX_WORDS_OF_A_SENTENCE);
    t.deepEqual(long, []);
  });
}

test('the documents together are not longer than a short book', (t) => {
  t.true(PAGES.length > 20, 'the pages were found');
  const words = PAGES.map(wordsOf).reduce((sum, of) => sum + of, 0);
  t.true(words <= MAX_WORDS, `${words} words of prose`);
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

test('words and sentences are counted without tables and blocks of code', (t) => {
  const markdown =
    '# A title\n\nOne two `x y. z`\nthree. Four: five?\n\n| a | b |\n|---|---|\n| c | d |\n\n```sh\ne f\n```\n';
  t.deepEqual(proseIn(markdown), ['A title', 'One two x_y__z three. Four: five?']);
  t.is(wordsIn('One – two `three` 4 ('), 4);
  t.deepEqual(sentencesIn('One two. Three (four.) Five?'), ['One two.', 'Three (four.)', 'Five?']);
});
