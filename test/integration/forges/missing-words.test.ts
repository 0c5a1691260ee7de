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

interface Asked {
  readonly forge: Forge;
  readonly ref: PullRequestRef;
  readonly head: string;
  readonly base: string;
}

type Arrange = (simulated: SimulatedForge) => unknown;

/** A row of the table in docs/development.md: an answer without the word, and what is made of it. */
type Row = readonly [
  /** As the table has it. */
  word: string,
  at: keyof typeof FORGES_OF,
  /** Of which answer, below the address of the API. */
  path: RegExp,
  /** What of its text is replaced, and by what; or what happens instead. */
  without: readonly [text: string, by: string] | Arrange,
  ask: (asked: Asked) => Promise<unknown>,
  /** What of the result counts, or the kind of the error. */
  becomes: unknown,
  arrange?: Arrange,
];

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
const author = async (asked: Asked) => ({ author: (await pull(asked))?.author.toLowerCase() });
const from = async (asked: Asked) => ({ from: (await pull(asked))?.head.repository });
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
const NULL_ASSIGNEES = ['"assignees":[', '"assignees":null,"x":['] as const;
const NOT_FOUND = { path: REVIEWS, fault: { kind: 'status', status: 404 } } as const;

/** Another key in its place. */
const absent = (key: string): readonly [text: string, by: string] => [`"${key}":`, '"x":'];
const GITEAS = 'Gitea, Forgejo';

const ROWS: readonly Row[] = [
  [
    '`author_association`',
    'GitHub',
    PULL,
    ['"author_association":"FIRST_TIME_CONTRIBUTOR"', '"author_association":"FIRST_TIME_MEMBER"'],
    pull,
    { firstTime: 'unknown' },
  ],
  ['`draft`', 'GitHub', PULL, absent('draft'), pull, { draft: 'unknown' }],
  ['`draft`', 'Forgejo 7', PULL, ['"title":"feat: it"', '"title":"WIP: it"'], pull, { draft: 'yes' }],
  ['`archived`', 'all', PULL, absent('archived'), pull, { archived: false }, (simulated) => simulated.archive(SITE)],
  ['`labels`', GITEAS, PULL, ['"labels":[', '"labels":null,"x":['], pull, { labels: [] }],
  ['`labels`: no such key', GITEAS, PULL, absent('labels'), pull, REFUSED],
  ['`user` null', 'all', PULL, ['"user":{', '"user":null,"x":{'], author, { author: 'ghost' }],
  ['`head.repo` null', 'all', PULL, (simulated) => simulated.deleteRepository(FORK), from, { from: null }],
  [
    '`visibility`',
    'GitHub',
    REPOSITORY,
    ['"visibility":"private"', '"visibility":"limited"'],
    repository,
    { visibility: undefined },
    (simulated) => simulated.setPrivate(SITE, true),
  ],
  ['`internal`', GITEAS, REPOSITORY, absent('internal'), repository, { visibility: undefined }],
  ['`topics`', 'all', REPOSITORY, absent('topics'), repository, { topics: undefined }],
  ['`assignees` null', 'GitHub', PULL, NULL_ASSIGNEES, triage, { assignees: undefined }],
  ['`assignees` null', GITEAS, PULL, NULL_ASSIGNEES, triage, { assignees: [] }],
  ['`assignees`: no such key', 'all', PULL, absent('assignees'), triage, { assignees: undefined }],
  ['`milestone`: no such key', 'all', PULL, absent('milestone'), triage, { milestone: undefined }],
  ['`verification`', 'all', COMMITS, absent('verification'), commit, { verified: 'unknown' }],
  ['`previous_filename`', 'GitHub', FILES, absent('previous_filename'), file('moved.ts'), REFUSED],
  ['`previous_filename`', GITEAS, FILES, absent('previous_filename'), files, { complete: false }, withoutDiff],
  [
    '`status` of a file',
    'all',
    FILES,
    ['"status":"renamed"', '"status":"moved"'],
    file('moved.ts'),
    REFUSED,
    withoutDiff,
  ],
  ['`tree`', GITEAS, /\/git\/trees\//, absent('tree'), readme, REFUSED],
  ['`content`', GITEAS, /\/git\/blobs\//, ['"content":"SGVsbG8K"', '"content":""'], readme, 'too-large'],
  ['`state` of a review', 'all', REVIEWS, ['"state":"APPROVED"', '"state":"ENDORSED"'], reviews, REFUSED],
  ['`dismissed`', GITEAS, REVIEWS, absent('dismissed'), reviews, REFUSED],
  ['`comments_count`', GITEAS, REVIEWS, absent('comments_count'), conversations, REFUSED],
  [
    '`original_author` of a comment',
    GITEAS,
    /\/issues\/1\/comments$/,
    absent('original_author'),
    ({ forge, ref }) => forge.comments(ref),
    REFUSED,
    (simulated) => simulated.comment(SITE, 1, 'bob', '/gatehouse override titled'),
  ],
  ['`resolver`', GITEAS, /\/reviews\/\d+\/comments$/, absent('resolver'), conversations, { resolved: 'unknown' }],
  ['`actor` of a request', 'GitHub', TIMELINE, absent('actor'), request, { by: 'ghost' }],
  ['`user` null of a request', GITEAS, TIMELINE, [`"user":${ERIN}`, '"user":null'], request, { by: 'ghost' }],
  ...[
    ['user', `"user":${ERIN}`],
    ['assignee', '"review_request","assignee":'],
    ['assignee_team', '},"assignee_team":'],
    ['removed_assignee', '"removed_assignee":true'],
  ].map(([key = '', text = '']): Row => {
    const without = [text, text.replace(`"${key}"`, '"x"')] as const;
    return [`\`${key}\` of a request: no such key`, GITEAS, TIMELINE, without, history, REFUSED];
  }),
  [
    '`state` of a status',
    'GitHub',
    /\/statuses$/,
    ['"state":"success"', '"state":"allowed"'],
    checks,
    { isIn: 'pending' },
  ],
  [
    'a field that is null, with an error',
    'GitHub',
    /^\/graphql/,
    (simulated) => simulated.graphql.forbidden.push('reviews'),
    ({ forge, ref }) => forge.pullRequestWithFacts(ref, []),
    { preloaded: {} },
  ],
  ['404 for a list', 'all', REVIEWS, (simulated) => simulated.fault(NOT_FOUND), reviews, 'invalid'],
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

/** Of GitHub; otherwise only REST answers. */
const BY_GRAPHQL: ReadonlySet<string> = new Set(['`state` of a status', 'a field that is null, with an error']);

/** What counts of the result, as the row has it; of an error its kind. */
async function answer(ask: (asked: Asked) => Promise<unknown>, asked: Asked, becomes: unknown): Promise<unknown> {
  try {
    const found = await ask(asked);
    const parts = Object.keys(Object(becomes)).map((key) => [key, Object(found)[key]] as const);
    return typeof becomes === 'string' ? found : Object.fromEntries(parts);
  } catch (error) {
    return error instanceof ForgeError ? error.kind : error;
  }
}

for (const [word, at, path, without, ask, becomes, arrange] of ROWS) {
  for (const name of FORGES_OF[at]) {
    test(`${name}: what becomes of ${word.replaceAll('`', '')}`, async (t) => {
      const { simulated, another } = await setUp(t, name);
      const number = open(simulated);
      arrange?.(simulated);
      if (!BY_GRAPHQL.has(word)) {
        simulated.fault({ method: 'POST', path: /^\/graphql/, fault: { kind: 'status', status: 404 } });
      }
      // Each has a client of its own: what one has read must not answer for the other.
      const read = () => {
        const at = { head: headOf(simulated, number), base: simulated.head(SITE, 'main') };
        return answer(ask, { forge: another(), ref: { repository: SITE, number }, ...at }, becomes);
      };
      t.notDeepEqual(await read(), becomes, 'with the word');
      if (typeof without === 'function') {
        without(simulated);
      } else {
        const [text, by] = without;
        simulated.fault({ path, fault: { kind: 'replace', text, by } });
      }
      t.deepEqual(await read(), becomes);
    });
  }
}

for (const name of FORGES_OF[GITEAS]) {
  test(`${name}: a listed review whose comments are not found is looked at again`, async (t) => {
    const { simulated, forge } = await setUp(t, name);
    const ref = { repository: SITE, number: open(simulated) };
    simulated.fault({ path: /\/reviews\/\d+\/comments$/, fault: { kind: 'status', status: 404 } });
    const error = await forgeError(t, () => forge.conversations(ref, headOf(simulated, ref.number)));
    t.is(error.kind, REFUSED);
  });

  test(`${name}: the diff tells from where a file was renamed if the list does not`, async (t) => {
    const { simulated, forge } = await setUp(t, name);
    const ref = { repository: SITE, number: open(simulated) };
    // Without one of the files, so that the list is read.
    const fault = { kind: 'replace', text: 'diff --git a/a.ts', by: 'x' } as const;
    simulated.fault({ path: /\/pulls\/1\.diff$/, fault });
    simulated.fault({ path: FILES, fault: { kind: 'replace', text: '"previous_filename":', by: '"x":' } });
    const { files: found, complete } = await forge.changedFiles(ref, headOf(simulated, ref.number));
    t.is(found.find(({ path }) => path === 'moved.ts')?.previousPath, 'old.ts');
    t.true(complete);
  });
}

test('each row of the table in docs/development.md is tested, and no other', async (t) => {
  const text = await readFile(new URL('../../../docs/development.md', import.meta.url), 'utf8');
  const [, section = ''] = text.split('## What a forge may leave out\n');
  const [table = ''] = section.split('\n## ');
  const rows = table.match(/^\| .*/gm)?.slice(1) ?? [];
  t.deepEqual(
    rows.map((line) => line.split(' | ').slice(0, 2).join(' | ').slice(2)),
    ROWS.map(([word, at]) => `${word} | ${at}`),
  );
});
