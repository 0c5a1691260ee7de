import { readFile } from 'node:fs/promises';
import { TRIAGE } from '../../../src/facts/triage.ts';
import type { Forge } from '../../../src/forges/port/forge.ts';
import { ForgeError } from '../../../src/forges/port/forge-error.ts';
import type { ForgeName } from '../../../src/forges/port/forges.ts';
import type { PullRequestRef } from '../../../src/forges/port/pull-request.ts';
import test from '../../helpers/test.ts';
import { user } from '../../simulated-forge/gitea-shapes.ts';
import type { SimulatedForge } from '../../simulated-forge/simulated-forge.ts';
import { forgeError, headOf, SITE, setUp } from './setup.ts';

/** As the table has them. */
const FORGES_OF = {
  GitHub: ['github'],
  'Gitea, Forgejo': ['gitea', 'forgejo'],
  'Forgejo 7': ['forgejo'],
  all: ['github', 'gitea', 'forgejo'],
} as const satisfies Readonly<Record<string, readonly ForgeName[]>>;

/** A row of the table in docs/development.md: an answer without the word, and what is made of it. */
interface Row {
  /** As the table has it. */
  readonly word: string;
  readonly at: keyof typeof FORGES_OF;
  /** Of which answer, below the address of the API. */
  readonly path: RegExp;
  /** What of its text is replaced, and by what; or what happens instead. */
  readonly without: readonly [text: string, by: string] | ((simulated: SimulatedForge) => unknown);
  readonly ask: (asked: Asked) => Promise<unknown>;
  /** What of the result counts, or the kind of the error. */
  readonly becomes: unknown;
  readonly arrange?: (simulated: SimulatedForge) => unknown;
  /** Whether GitHub is asked by GraphQL; otherwise only REST answers. */
  readonly byGraphql?: true;
}

interface Asked {
  readonly forge: Forge;
  readonly ref: PullRequestRef;
  readonly head: string;
  readonly base: string;
}

/** The answer is of no use, and is asked for again. */
const REFUSED = 'unavailable';
const FORK = 'newcomer/site';
const PULL = /^\/repos\/platform\/site\/pulls\/1$/;
const REPOSITORY = /^\/repos\/platform\/site$/;
const FILES = /\/pulls\/1\/files$/;
const COMMITS = /\/pulls\/1\/commits$/;
const TIMELINE = /\/issues\/1\/timeline$/;
const REVIEWS = /\/pulls\/1\/reviews$/;

/** As the simulated Gitea shows who requests a review. */
const ERIN = JSON.stringify(user('erin'));

const pull = ({ forge, ref }: Asked) => forge.pullRequest(ref);
const repository = ({ forge }: Asked) => forge.repository(SITE);
const triage = ({ forge, ref }: Asked) => forge.ask(ref, TRIAGE);
const commit = async ({ forge, ref }: Asked) => (await forge.commits(ref, { signatures: true, signers: false }))[0];
const reviews = ({ forge, ref }: Asked) => forge.reviews(ref);
const conversations = async ({ forge, ref, head }: Asked) => (await forge.conversations(ref, head)).conversations[0];
const checks = async ({ forge, head }: Asked) => ({ isIn: (await forge.checks(SITE, head)).checks[0]?.state });
const file =
  (name: string) =>
  async ({ forge, ref, head }: Asked) =>
    (await forge.changedFiles(ref, head)).files.find(({ path }) => path === name);
const files = ({ forge, ref, head }: Asked) => forge.changedFiles(ref, head);
const history = async ({ forge, ref }: Asked) => (await forge.requestedReviews(ref)).history;
const request = async (asked: Asked) => ({
  by: (await history(asked)).find(({ reviewer }) => reviewer === 'dan')?.by.toLowerCase(),
});
const readme = async ({ forge, base }: Asked) => ({ text: await forge.fileAt(SITE, 'README.md', base) });

/** The list of Gitea and Forgejo is read where their text has not all files. */
const withoutDiff = (simulated: SimulatedForge) =>
  simulated.fault({ path: /\/pulls\/1\.diff$/, fault: { kind: 'json', body: '' } });
const makePrivate = (simulated: SimulatedForge) => simulated.setPrivate(SITE, true);

const ROWS: readonly Row[] = [
  {
    word: '`author_association`',
    ...{ at: 'GitHub', path: PULL, ask: pull, becomes: { firstTime: 'unknown' } },
    without: ['"author_association":"FIRST_TIME_CONTRIBUTOR"', '"author_association":"FIRST_TIME_MEMBER"'],
  },
  {
    word: '`draft`',
    ...{ at: 'GitHub', path: PULL, ask: pull, becomes: { draft: 'unknown' }, without: ['"draft":', '"x":'] },
  },
  {
    word: '`draft`',
    ...{ at: 'Forgejo 7', path: PULL, ask: pull, becomes: { draft: 'yes' } },
    without: ['"title":"feat: it"', '"title":"WIP: it"'],
  },
  {
    word: '`archived`',
    ...{ at: 'all', path: PULL, ask: pull, becomes: { archived: false }, without: ['"archived":', '"x":'] },
    arrange: (simulated) => simulated.archive(SITE),
  },
  {
    word: '`labels`',
    ...{
      at: 'Gitea, Forgejo',
      path: PULL,
      ask: pull,
      becomes: { labels: [] },
      without: ['"labels":[', '"labels":null,"x":['],
    },
  },
  {
    word: '`labels`: no such key',
    ...{ at: 'Gitea, Forgejo', path: PULL, ask: pull, becomes: REFUSED, without: ['"labels":', '"x":'] },
  },
  {
    word: '`user` null',
    ...{ at: 'all', path: PULL, ask: async (asked) => ({ author: (await pull(asked))?.author.toLowerCase() }) },
    without: ['"user":{', '"user":null,"x":{'],
    becomes: { author: 'ghost' },
  },
  {
    word: '`head.repo` null',
    ...{ at: 'all', path: PULL, ask: async (asked) => ({ from: (await pull(asked))?.head.repository }) },
    without: (simulated) => simulated.deleteRepository(FORK),
    becomes: { from: null },
  },
  {
    word: '`visibility`',
    ...{ at: 'GitHub', path: REPOSITORY, ask: repository, becomes: { visibility: undefined }, arrange: makePrivate },
    without: ['"visibility":"private"', '"visibility":"limited"'],
  },
  {
    word: '`internal`',
    ...{ at: 'Gitea, Forgejo', path: REPOSITORY, ask: repository, becomes: { visibility: undefined } },
    without: ['"internal":', '"x":'],
  },
  {
    word: '`topics`',
    ...{
      at: 'all',
      path: REPOSITORY,
      ask: repository,
      becomes: { topics: undefined },
      without: ['"topics":', '"x":'],
    },
  },
  {
    word: '`assignees` null',
    ...{ at: 'GitHub', path: PULL, ask: triage, becomes: { assignees: undefined } },
    without: ['"assignees":[', '"assignees":null,"x":['],
  },
  {
    word: '`assignees` null',
    ...{ at: 'Gitea, Forgejo', path: PULL, ask: triage, becomes: { assignees: [] } },
    without: ['"assignees":[', '"assignees":null,"x":['],
  },
  {
    word: '`assignees`: no such key',
    ...{ at: 'all', path: PULL, ask: triage, becomes: { assignees: undefined }, without: ['"assignees":', '"x":'] },
  },
  {
    word: '`milestone`: no such key',
    ...{ at: 'all', path: PULL, ask: triage, becomes: { milestone: undefined }, without: ['"milestone":', '"x":'] },
  },
  {
    word: '`verification`',
    ...{
      at: 'all',
      path: COMMITS,
      ask: commit,
      becomes: { verified: 'unknown' },
      without: ['"verification":', '"x":'],
    },
  },
  {
    word: '`previous_filename`',
    ...{ at: 'GitHub', path: FILES, ask: file('moved.ts'), becomes: REFUSED },
    without: ['"previous_filename":', '"x":'],
  },
  {
    word: '`previous_filename`',
    ...{ at: 'Gitea, Forgejo', path: FILES, ask: files, becomes: { complete: false }, arrange: withoutDiff },
    without: ['"previous_filename":', '"x":'],
  },
  {
    word: '`status` of a file',
    ...{ at: 'all', path: FILES, ask: file('moved.ts'), becomes: REFUSED, arrange: withoutDiff },
    without: ['"status":"renamed"', '"status":"moved"'],
  },
  {
    word: '`tree`',
    ...{ at: 'Gitea, Forgejo', path: /\/git\/trees\//, ask: readme, becomes: REFUSED, without: ['"tree":', '"x":'] },
  },
  {
    word: '`content`',
    ...{ at: 'Gitea, Forgejo', path: /\/git\/blobs\//, ask: readme, becomes: 'too-large' },
    without: ['"content":"SGVsbG8K"', '"content":""'],
  },
  {
    word: '`state` of a review',
    ...{ at: 'all', path: REVIEWS, ask: reviews, becomes: REFUSED },
    without: ['"state":"APPROVED"', '"state":"ENDORSED"'],
  },
  {
    word: '`dismissed`',
    ...{ at: 'Gitea, Forgejo', path: REVIEWS, ask: reviews, becomes: REFUSED, without: ['"dismissed":', '"x":'] },
  },
  {
    word: '`comments_count`',
    ...{
      at: 'Gitea, Forgejo',
      path: REVIEWS,
      ask: conversations,
      becomes: REFUSED,
      without: ['"comments_count":', '"x":'],
    },
  },
  {
    word: '`original_author` of a comment',
    ...{
      at: 'Gitea, Forgejo',
      path: /\/issues\/1\/comments$/,
      ask: ({ forge, ref }) => forge.comments(ref),
      becomes: REFUSED,
      without: ['"original_author":', '"x":'],
    },
    arrange: (simulated) => simulated.comment(SITE, 1, 'bob', '/gatehouse override titled'),
  },
  {
    word: '`resolver`',
    ...{
      at: 'Gitea, Forgejo',
      path: /\/reviews\/\d+\/comments$/,
      ask: conversations,
      becomes: { resolved: 'unknown' },
    },
    without: ['"resolver":', '"x":'],
  },
  {
    word: '`actor` of a request',
    ...{ at: 'GitHub', path: TIMELINE, ask: request, becomes: { by: 'ghost' }, without: ['"actor":', '"x":'] },
  },
  {
    word: '`user` null of a request',
    ...{ at: 'Gitea, Forgejo', path: TIMELINE, ask: request, becomes: { by: 'ghost' } },
    without: [`"user":${ERIN}`, '"user":null'],
  },
  ...[
    ['user', `"user":${ERIN}`],
    ['assignee', '"review_request","assignee":'],
    ['assignee_team', '},"assignee_team":'],
    ['removed_assignee', '"removed_assignee":true'],
  ].map(
    ([key = '', text = '']): Row => ({
      word: `\`${key}\` of a request: no such key`,
      ...{ at: 'Gitea, Forgejo', path: TIMELINE, ask: history, becomes: REFUSED },
      without: [text, text.replace(`"${key}"`, '"x"')],
    }),
  ),
  {
    word: '`state` of a status',
    ...{ at: 'GitHub', path: /\/statuses$/, byGraphql: true, ask: checks, becomes: { isIn: 'pending' } },
    without: ['"state":"success"', '"state":"allowed"'],
  },
  {
    word: 'a field that is null, with an error',
    ...{ at: 'GitHub', path: /^\/graphql/, byGraphql: true, becomes: { preloaded: {} } },
    ask: ({ forge, ref }) => forge.pullRequestWithFacts(ref, []),
    without: (simulated) => simulated.graphql.forbidden.push('reviews'),
  },
  {
    word: '404 for a list',
    ...{ at: 'all', path: REVIEWS, ask: reviews, becomes: 'invalid' },
    without: (simulated) => simulated.fault({ path: REVIEWS, fault: { kind: 'status', status: 404 } }),
  },
];

/** A pull request from a fork, with one of everything. */
function open(simulated: SimulatedForge): number {
  simulated.setTopics(SITE, 'web');
  simulated.commit(SITE, 'main', { 'old.ts': 'one\ntwo\nthree\n' });
  const fork = simulated.fork(SITE, 'newcomer');
  const changes = { 'a.ts': 'a\n', 'old.ts': null, 'moved.ts': 'one\ntwo\nthree\n' };
  const head = simulated.commit(fork, 'topic', changes, { author: 'newcomer' });
  const details = { head: 'topic', from: fork, title: 'feat: it', author: 'newcomer', labels: ['bug'] };
  const number = simulated.openPullRequest(SITE, details);
  simulated.assign(SITE, number, 'bob');
  simulated.setMilestone(SITE, number, 'v1');
  simulated.review(SITE, number, 'carol', 'approved');
  simulated.requestReview(SITE, number, 'dan', 'erin');
  simulated.withdrawReviewRequest(SITE, number, 'dan', 'erin');
  simulated.commentInline(SITE, number, 'bob', { path: 'a.ts', line: 1, body: 'Why?' });
  simulated.setStatus(SITE, head, { context: 'ci', state: 'success', description: '', author: 'ci' });
  return number;
}

/** What counts of the result, as the row has it; of an error its kind. */
async function answer(row: Row, asked: Asked): Promise<unknown> {
  try {
    const found = await row.ask(asked);
    const parts = Object.keys(Object(row.becomes)).map((key) => [key, Object(found)[key]] as const);
    return typeof row.becomes === 'string' ? found : Object.fromEntries(parts);
  } catch (error) {
    return error instanceof ForgeError ? error.kind : error;
  }
}

for (const row of ROWS) {
  for (const name of FORGES_OF[row.at]) {
    test(`${name}: what becomes of ${row.word.replaceAll('`', '')}`, async (t) => {
      const { simulated, another } = await setUp(t, name);
      const number = open(simulated);
      row.arrange?.(simulated);
      if (!row.byGraphql) {
        simulated.fault({ method: 'POST', path: /^\/graphql/, fault: { kind: 'status', status: 404 } });
      }
      // Each has a client of its own: what one has read must not answer for the other.
      const asked = () => ({
        forge: another(),
        ref: { repository: SITE, number },
        head: headOf(simulated, number),
        base: simulated.head(SITE, 'main'),
      });
      t.notDeepEqual(await answer(row, asked()), row.becomes, 'with the word');
      if (typeof row.without === 'function') {
        row.without(simulated);
      } else {
        const [text, by] = row.without;
        simulated.fault({ path: row.path, fault: { kind: 'replace', text, by } });
      }
      t.deepEqual(await answer(row, asked()), row.becomes);
    });
  }
}

for (const name of FORGES_OF['Gitea, Forgejo']) {
  test(`${name}: a listed review whose comments are not found is looked at again`, async (t) => {
    const { simulated, forge } = await setUp(t, name);
    const ref = { repository: SITE, number: open(simulated) };
    simulated.fault({ path: /\/reviews\/\d+\/comments$/, fault: { kind: 'status', status: 404 } });
    const error = await forgeError(t, () => forge.conversations(ref, headOf(simulated, ref.number)));
    t.is(error.kind, REFUSED);
  });
}

for (const name of FORGES_OF['Gitea, Forgejo']) {
  test(`${name}: the diff tells from where a file was renamed if the list does not`, async (t) => {
    const { simulated, forge } = await setUp(t, name);
    const asked = { ref: { repository: SITE, number: open(simulated) }, forge, base: '' };
    const head = headOf(simulated, asked.ref.number);
    // Without one of the files, so that the list is read.
    const fault = { kind: 'replace', text: 'diff --git a/a.ts', by: 'x' } as const;
    simulated.fault({ path: /\/pulls\/1\.diff$/, fault });
    simulated.fault({ path: FILES, fault: { kind: 'replace', text: '"previous_filename":', by: '"x":' } });
    const { files: found, complete } = await files({ ...asked, head });
    t.is(found.find(({ path }) => path === 'moved.ts')?.previousPath, 'old.ts');
    t.true(complete);
  });
}

test('each row of the table in docs/development.md is tested, and no other', async (t) => {
  const text = await readFile(new URL('../../../docs/development.md', import.meta.url), 'utf8');
  const [, section = ''] = text.split('## What a forge may leave out\n');
  const [table = ''] = section.split('\n## ');
  const rows = table
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .slice(1);
  const tested = ROWS.map(({ word, at }) => `${word} | ${at}`);
  t.deepEqual(
    rows.map((line) => line.split(' | ').slice(0, 2).join(' | ').slice(2)),
    tested,
  );
});
