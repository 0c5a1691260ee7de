import type { ExecutionContext } from 'ava';
import type { Forge } from '../../../src/forges/port/forge.ts';
import type { PullRequestRef } from '../../../src/forges/port/pull-request.ts';
import { PATIENCE } from '../../helpers/patience.ts';
import test from '../../helpers/test.ts';
import { symlink } from '../../simulated-forge/git.ts';
import type { SimulatedForge } from '../../simulated-forge/simulated-forge.ts';
import { everythingIn, openPullRequest, type Setup, SITE, setUp, setUpPull } from './setup.ts';

const PATHS = ['.gatehouse.yml', '.github/gatehouse.yml', 'CODEOWNERS'];
/** As behind a proxy that knows only the REST API. */
const NO_GRAPHQL = { method: 'POST', path: /^\/graphql/, fault: { kind: 'status', status: 404 } } as const;

function queries({ simulated }: Pick<Setup, 'simulated'>): number {
  return simulated.count('POST', /^\/graphql/);
}

async function factsOf(t: ExecutionContext, forge: Forge, ref: PullRequestRef) {
  const read = await forge.pullRequestWithFacts(ref, PATHS);
  return read ?? t.fail('the pull request was not found');
}

function busyPullRequest(simulated: SimulatedForge) {
  simulated.commit(SITE, 'main', { '.gatehouse.yml': 'version: 1\nrules: []\n', 'old.txt': 'gone\n' });
  simulated.commit(SITE, 'topic', { 'a.txt': 'a\n', 'src/app.ts': 'changed\n', 'old.txt': null });
  simulated.commit(SITE, 'topic', { 'b.txt': 'b\n' }, { message: 'feat: b\n\nSigned-off-by: bob' });
  const number = simulated.openPullRequest(SITE, { head: 'topic', title: 'feat: “quoted”\t✓', author: 'alice' });
  simulated.edit(SITE, number, { body: 'Some words\r\nand more' });
  for (const label of ['zebra', 'apple']) {
    simulated.label(SITE, number, label);
  }
  simulated.review(SITE, number, 'bob', 'approved');
  simulated.review(SITE, number, 'carol', 'changes-requested');
  simulated.review(SITE, number, 'scanner[bot]', 'commented');
  return { repository: SITE, number };
}

test('signers that cannot be read are an error, and never nobody', async (t) => {
  const { simulated, forge } = await setUp(t, 'github');
  const ref = busyPullRequest(simulated);
  simulated.push(SITE, ref.number, { 'signed.txt': 'x' }, { verified: true, signer: 'alice' });
  simulated.graphql.missing.push('wasSignedByGitHub');
  await t.throwsAsync(forge.commits(ref, { signatures: true, signers: true }), { message: /the signers of commits/ });
  const before = queries({ simulated });
  t.is((await forge.commits(ref, { signatures: true, signers: false })).at(-1)?.verified, 'yes');
  t.is(queries({ simulated }), before);
});

test('what GraphQL tells of a pull request is what REST tells', async (t) => {
  const { simulated, forge, another } = await setUp(t, 'github');
  const ref = busyPullRequest(simulated);
  await forge.createComment(ref, 'Hello');
  const { head, ...byGraphql } = await factsOf(t, forge, ref).then(({ pullRequest, ...others }) => ({
    head: pullRequest.head,
    pullRequest,
    ...others,
  }));
  t.is(queries({ simulated }), 1);
  const { preloaded } = byGraphql;
  const plain = await forge.pullRequest(ref);
  simulated.fault(NO_GRAPHQL);
  const rest = another();
  const byRest = await rest.pullRequest(ref);

  t.deepEqual(byGraphql.pullRequest, byRest);
  t.deepEqual(plain && { ...plain, commentCount: byRest?.commentCount }, byRest);
  t.deepEqual(
    preloaded.commits,
    (await rest.commits(ref)).map((commit) => ({ ...commit, verified: 'unknown' })),
  );
  t.deepEqual(
    preloaded.reviews?.map((review) => ({ ...review, mayWrite: review.bot ? 'no' : 'unknown' })),
    await rest.reviews(ref),
    'REST does not tell who may write',
  );
  const { files, complete } = await rest.changedFiles(ref, head.sha);
  const unread = files.map((file) => ({ ...file, counted: false, diff: { kind: 'unread' } }));
  t.deepEqual(preloaded.changedFiles, { files: unread, complete } as typeof preloaded.changedFiles);
  t.deepEqual(preloaded.ownComments, await rest.ownComments(ref));
  t.deepEqual(preloaded.ownInlineComments, await rest.ownInlineComments(ref, head.sha));
  t.deepEqual(
    byGraphql.files,
    new Map([
      ['.gatehouse.yml', 'version: 1\nrules: []\n'],
      ['.github/gatehouse.yml', null],
      ['CODEOWNERS', null],
    ]),
  );
});

test('a file that GraphQL has given is not read again', async (t) => {
  const { simulated, forge } = await setUp(t, 'github');
  const ref = busyPullRequest(simulated);
  const { pullRequest } = await factsOf(t, forge, ref);
  const at = pullRequest.baseCommit ?? '';
  t.is(await forge.fileAt(SITE, '.gatehouse.yml', at), 'version: 1\nrules: []\n');
  t.is(await forge.fileAt(SITE, 'CODEOWNERS', at), undefined);
  t.is(simulated.count('GET', /\/contents\//), 0);
});

test('a link, a directory and what is cut or not text are left to REST', async (t) => {
  const { simulated, forge } = await setUp(t, 'github');
  const files = {
    link: symlink('README.md'),
    'folder/file': 'text\n',
    large: 'x'.repeat(600_000),
    binary: Buffer.from([1, 0, 2]),
    broken: Buffer.from([0x61, 0xff, 0x62]),
    marked: '\ufeffversion: 1\n',
    empty: '',
  };
  simulated.commit(SITE, 'main', files);
  const { ref } = openPullRequest(simulated);
  const paths = Object.keys(files).map((path) => path.replace('/file', ''));
  const read = await forge.pullRequestWithFacts(ref, paths);
  t.deepEqual(
    [...(read?.files ?? [])],
    [
      ['marked', files.marked],
      ['empty', ''],
    ],
  );
});

test('a file that GraphQL describes in an unknown way is left to REST', async (t) => {
  const { simulated, forge } = await setUp(t, 'github');
  const ref = busyPullRequest(simulated);
  for (const [text, by] of [
    ['"file0":{"type":"blob"', '"file0":{"type":7'],
    ['"file0":{"type":"blob"', '"file0":{"type":"other"'],
    ['"file0":{', '"another":{'],
  ] as const) {
    simulated.fault({ path: /^\/graphql/, times: 1, fault: { kind: 'replace', text, by } });
    t.deepEqual([...(await factsOf(t, forge, ref)).files.keys()], ['.github/gatehouse.yml', 'CODEOWNERS'], by);
  }
});

test('a co-author whose account cannot be read never counts as one without an account', async (t) => {
  const { simulated, forge, ref, head } = await setUpPull(t, 'github');
  const addresses = ['bob@corp.test', '7+carol@users.noreply.127.0.0.1'];
  const asked = addresses.map((address) => ({ address, sha: head() }));
  t.deepEqual(
    [...(await forge.accounts(ref.repository, asked))],
    [
      [addresses[0], null],
      [addresses[1], 'carol'],
    ],
  );
  simulated.fault(NO_GRAPHQL);
  t.deepEqual([...(await forge.accounts(ref.repository, asked))], [[addresses[1], 'carol']]);
});

test('a list of more than a page is not taken for all of it', async (t) => {
  const { simulated, forge } = await setUp(t, 'github');
  for (let index = 0; index < 41; index++) {
    simulated.commit(SITE, 'topic', { [`${index}.txt`]: `${index}\n` });
  }
  simulated.commit(
    SITE,
    'topic',
    Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`more/${index}`, 'x\n'])),
  );
  const number = simulated.openPullRequest(SITE, { head: 'topic' });
  const ref = { repository: SITE, number };
  for (let index = 0; index < 101; index++) {
    simulated.review(SITE, number, 'bob', 'commented');
  }
  const { preloaded, pullRequest } = await factsOf(t, forge, ref);
  t.is(pullRequest.changedFileCount, 101);
  t.deepEqual(Object.keys(preloaded).sort(), ['ownComments', 'ownInlineComments', 'statuses']);
});

test('what GraphQL tells less of than REST is left to it: renames, Apps, and who has no account', async (t) => {
  const { simulated, forge } = await setUp(t, 'github');
  simulated.commit(SITE, 'topic', { 'src/app.ts': null, 'src/moved.ts': 'one\ntwo\nthree\n' });
  simulated.commit(SITE, 'topic', { a: 'a\n' }, { author: 'renovate[bot]' });
  const ref = { repository: SITE, number: simulated.openPullRequest(SITE, { head: 'topic' }) };
  simulated.review(SITE, ref.number, 'bob', 'approved');
  simulated.review(SITE, ref.number, 'Copilot', 'commented');
  t.is((await factsOf(t, forge, ref)).preloaded.reviews?.length, 2);
  simulated.review(SITE, ref.number, 'Copilot', 'approved');
  const { changedFiles, commits, reviews } = (await factsOf(t, forge, ref)).preloaded;
  t.deepEqual([changedFiles, commits, reviews], [undefined, undefined, undefined]);
  t.is((await forge.commits(ref)).at(-1)?.author.login, 'renovate[bot]');
  t.deepEqual(
    (await forge.reviews(ref)).map(({ author, bot }) => [author, bot]),
    [
      ['bob', false],
      ['Copilot', true],
      ['Copilot', true],
    ],
  );
});

test('an App that opened a pull request has the login of REST, read once', async (t) => {
  const { simulated, forge } = await setUp(t, 'github');
  const open = (head: string, author: string) => {
    simulated.commit(SITE, head, { [head]: 'text\n' });
    return { repository: SITE, number: simulated.openPullRequest(SITE, { head, author }) };
  };
  const refs = [open('one', 'renovate[bot]'), open('two', 'Copilot'), open('three', 'Copilot')];
  const authors = [];
  for (const ref of refs) {
    authors.push((await factsOf(t, forge, ref)).pullRequest.author, (await forge.pullRequest(ref))?.author);
  }
  t.deepEqual(authors, ['renovate[bot]', 'renovate[bot]', 'Copilot', 'Copilot', 'Copilot', 'Copilot']);
  t.deepEqual([queries({ simulated }), simulated.count('GET', /\/pulls\/:number$/)], [6, 2]);
});

test('what belongs to another commit than the head is not taken for the head’s', async (t) => {
  const { simulated, forge, ref, head } = await setUpPull(t, 'github');
  const stale = head();
  simulated.fault({
    method: 'POST',
    path: /^\/graphql/,
    times: 1,
    fault: { kind: 'replace', text: `"headRefOid":"${stale}"`, by: `"headRefOid":"${'d'.repeat(40)}"` },
  });
  const { preloaded, pullRequest } = await factsOf(t, forge, ref);
  t.is(pullRequest.head.sha, 'd'.repeat(40));
  t.deepEqual([preloaded.changedFiles, preloaded.commits, preloaded.statuses], [undefined, undefined, undefined]);
});

for (const [what, text, by] of [
  [
    'an error beside the data',
    '"data":',
    '"errors":[{"type":"FORBIDDEN","message":"Resource not accessible"}],"data":',
  ],
  ['no base branch', '"baseRef":{', '"baseRef":null,"other":{'],
  ['no list of labels', '"labels":{', '"labels":null,"other":{'],
  ['a node that is null', '"nodes":[{"path"', '"nodes":[null,{"path"'],
  ['no status of the tip', '"tip":{', '"tip":null,"other":{'],
] as const) {
  test(`GraphQL with ${what} is read by REST instead`, async (t) => {
    const { simulated, forge } = await setUp(t, 'github');
    const ref = busyPullRequest(simulated);
    simulated.fault({ method: 'POST', path: /^\/graphql/, times: 1, fault: { kind: 'replace', text, by } });
    const { pullRequest, preloaded, files } = await factsOf(t, forge, ref);
    t.deepEqual([preloaded, files.size], [{}, 0]);
    t.is(pullRequest.title, 'feat: “quoted”\t✓');
    t.is(simulated.count('GET', /\/pulls\/:number$/), 1);
    t.is(Object.keys((await factsOf(t, forge, ref)).preloaded).length, 7, 'and the next one by GraphQL');
  });
}

test('a pull request that GraphQL does not find is looked for by REST', async (t) => {
  const { simulated, forge } = await setUp(t, 'github');
  t.is(await forge.pullRequestWithFacts({ repository: SITE, number: 77 }, PATHS), undefined);
  t.deepEqual([queries({ simulated }), simulated.count('GET', /\/pulls\//)], [1, 1]);
});

test('a server without a field of the query is asked by REST from then on', async (t) => {
  const warnings: string[] = [];
  const log = { debug: () => {}, warn: (_: object, message: string) => warnings.push(message) };
  const { simulated, forge, ref } = await setUpPull(t, 'github', { log });
  simulated.graphql.missing.push('fullDatabaseId');
  for (let times = 0; times < 3; times++) {
    t.is((await factsOf(t, forge, ref)).pullRequest.number, ref.number);
  }
  t.is(queries({ simulated }), 1);
  t.deepEqual(warnings, ['the forge refused a GraphQL query; for an hour only REST is used']);
});

for (const [what, weaken] of Object.entries({
  'that hangs': (simulated: SimulatedForge) => simulated.fault({ path: /^\/graphql/, fault: { kind: 'hang' } }),
  'without points left': (simulated: SimulatedForge) => Object.assign(simulated.graphql.points, { remaining: 0 }),
})) {
  test(`GraphQL ${what} is asked once, and REST, which is not paused, from then on`, async (t) => {
    const { simulated, forge, ref } = await setUpPull(t, 'github', {
      patience: what === 'that hangs' ? 0.2 : PATIENCE,
    });
    weaken(simulated);
    for (let times = 0; times < 2; times++) {
      t.is((await factsOf(t, forge, ref)).pullRequest.number, ref.number);
    }
    t.is(queries({ simulated }), 1);
  });
}

test('a secondary limit that GraphQL answers with 200 pauses REST as well', async (t) => {
  const { simulated, forge, ref } = await setUpPull(t, 'github');
  const body = { errors: [{ message: 'You have exceeded a secondary rate limit. Please wait.' }] };
  simulated.fault({ path: /^\/graphql/, fault: { kind: 'json', body } });
  const error = await t.throwsAsync(() => forge.pullRequest(ref));
  t.is(error && 'kind' in error ? error.kind : '', 'rate-limited');
  t.is(simulated.count('GET'), 0);
});

test('a title about rate limits is no rate limit', async (t) => {
  const { simulated, forge } = await setUp(t, 'github');
  const { ref } = openPullRequest(simulated, { title: '"errors":[{"message":"secondary rate limit"}] RATE_LIMITED' });
  t.is((await factsOf(t, forge, ref)).pullRequest.number, ref.number);
  t.is(simulated.count('GET', /\/pulls\//), 0);
});

test('an error of GraphQL does not repeat the credential', async (t) => {
  const logged: object[] = [];
  const log = { debug: (fields: object) => logged.push(fields), warn: (fields: object) => logged.push(fields) };
  const { simulated, forge, ref } = await setUpPull(t, 'github', { log });
  simulated.fault({ fault: { kind: 'echo' } });
  const error = await t.throwsAsync(() => forge.pullRequest(ref));
  t.false(everythingIn([error, logged]).includes(simulated.token));
  t.true(logged.length > 0);
});
