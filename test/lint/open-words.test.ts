import { readdir, readFile } from 'node:fs/promises';
import test from '../helpers/test.ts';

const PORT = new URL('../../src/forges/port/', import.meta.url);
const read = (file: string) => readFile(new URL(file, PORT), 'utf8');

const READ_BY_REVIEWS = ['accounts', 'checks', 'conversations', 'merge-queue', 'merged', 'postings', 'pull-request'];

/** A property: what a method answers is not stored as a fact. */
const OPEN_BOOLEAN =
  /\breadonly \w+(?:\?: boolean\b|: boolean \| (?:null|undefined)\b|: (?:null|undefined) \| boolean\b)/;

/** Keys that may be absent, and why nothing is taken for a no by that. */
const OPTIONAL: Readonly<Record<string, string>> = {
  'Check.url': 'a link to show',
  'Checks.lacking': 'what `complete: false` is explained by',
  'CommitStatus.targetUrl': 'a link to show',
  'CommitStatus.updatedAt': 'one to be posted has none',
  'HiddenAddress.id': 'what an address has in it, and no forge says',
  'MergedList.cutAt': 'how far Gatehouse itself has looked',
  'PreloadedFacts.accounts': 'read by a method of its own',
  'PreloadedFacts.changedFiles': 'read by a method of its own',
  'PreloadedFacts.commits': 'read by a method of its own',
  'PreloadedFacts.ownComments': 'read by a method of its own',
  'PreloadedFacts.ownInlineComments': 'read by a method of its own',
  'PreloadedFacts.reviews': 'read by a method of its own',
  'PreloadedFacts.statuses': 'read by a method of its own',
};

test('what a forge may leave open is yes, no or unknown, and no boolean', async (t) => {
  t.regex('readonly draft?: boolean;', OPEN_BOOLEAN);
  t.regex('readonly verified: boolean | null;', OPEN_BOOLEAN);
  for (const file of await readdir(PORT)) {
    t.notRegex(await read(file), OPEN_BOOLEAN, file);
  }
});

test('no key of what a review reads may be absent, without a reason', async (t) => {
  const found: string[] = [];
  for (const name of READ_BY_REVIEWS) {
    for (const [, owner = '', body = ''] of (await read(`${name}.ts`)).matchAll(
      /^export interface (\w+)[^{]*\{(.*?)^\}/gms,
    )) {
      found.push(...[...body.matchAll(/\breadonly (\w+)\?:/g)].map(([, key]) => `${owner}.${key}`));
    }
  }
  t.deepEqual(found.sort(), Object.keys(OPTIONAL));
});
