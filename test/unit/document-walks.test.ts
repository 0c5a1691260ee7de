import { readFile } from 'node:fs/promises';
import { posix } from 'node:path';
import test from 'ava';
import { wordsIn } from '../helpers/prose.ts';

const read = (page: string) => readFile(new URL(`../../${page}`, import.meta.url), 'utf8');

const WORDS_A_MINUTE = 200;
const MAX_MINUTES = 10;

/** What somebody opens who has never seen Gatehouse, in this order, until they have what they came for. */
const WALKS: Readonly<Record<string, readonly string[]>> = {
  'whoever opened a pull request learns what to do': ['README.md', 'docs/guide-author.md'],
  'whoever writes the policy has a first one, tested': ['README.md', 'docs/guide-policy.md', 'docs/cookbook.md'],
  'whoever runs it has connected a forge and required the status': [
    'README.md',
    'docs/guide-operator.md',
    'docs/connect-github.md',
  ],
  'whoever changes the code knows how to add a predicate': [
    'README.md',
    'CONTRIBUTING.md#run-it',
    'CONTRIBUTING.md#make-a-change',
    'docs/development.md#add-a-predicate',
  ],
};

/** With tables, because people read them; without blocks of code and the addresses of links. */
function wordsOf(markdown: string): number {
  return wordsIn(
    markdown
      .replaceAll(/^ *```[\s\S]*?^ *```/gm, '')
      .replaceAll(/\]\([^)]*\)|<[^>]+>/g, ' ')
      .replaceAll(/`[^`\n]*`/g, 'code'),
  );
}

/** A page, or one section of it: from its heading to the next of its level. */
async function textOf(step: string): Promise<string> {
  const [page = '', anchor] = step.split('#');
  const text = await read(page);
  const section = text
    .split(/^(?=## )/m)
    .find((part) => part.split('\n')[0]?.slice(3).toLowerCase().replaceAll(' ', '-') === anchor);
  return anchor === undefined ? text : (section ?? '');
}

for (const [reader, steps] of Object.entries(WALKS)) {
  test(`within ${MAX_MINUTES} minutes ${reader}`, async (t) => {
    const texts = await Promise.all(steps.map(textOf));
    const words = texts.map(wordsOf);
    t.true(
      words.every((count) => count > 50),
      'each section was found',
    );
    for (const [index, step] of steps.slice(1).entries()) {
      const [page = ''] = step.split('#');
      const before = steps.slice(0, index + 1).map((earlier) => earlier.split('#')[0] ?? '');
      const linked = await Promise.all(
        before.map(
          async (from) =>
            from === page || (await read(from)).includes(`](${posix.relative(posix.dirname(from), page)}`),
        ),
      );
      t.true(linked.includes(true), `no page before it leads to ${page}`);
    }
    const minutes = words.reduce((sum, count) => sum + count, 0) / WORDS_A_MINUTE;
    t.log(
      `${steps.length} steps, ${minutes.toFixed(1)} minutes at ${WORDS_A_MINUTE} words a minute: ${steps.join(', ')}`,
    );
    t.true(minutes < MAX_MINUTES, `${minutes} minutes`);
  });
}
