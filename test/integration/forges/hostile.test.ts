import type { ExecutionContext } from 'ava';
import { TRIAGE } from '../../../src/facts/triage.ts';
import type { Checks } from '../../../src/forges/port/checks.ts';
import type { Forge } from '../../../src/forges/port/forge.ts';
import { ForgeError } from '../../../src/forges/port/forge-error.ts';
import { statusDescription } from '../../../src/forges/port/postings.ts';
import type { PersonReview, PullRequestRef } from '../../../src/forges/port/pull-request.ts';
import { sized } from '../../helpers/size.ts';
import test from '../../helpers/test.ts';
import { SEED } from '../../simulated-forge/api/seed.ts';
import { VERSIONS } from '../../simulated-forge/github-api/versions.ts';
import type { SimulatedForge, SimulatedForgeOptions } from '../../simulated-forge/simulated-forge.ts';
import { openPullRequest, SITE, setUp, setUpPull } from './setup.ts';

/** Answers that are drawn of each query. */
const ANSWERS = sized(20, 60);
const PATHS = ['README.md', 'absent.yml'];
/** A double does not hold it. */
const LARGE = '9007199254740993';

interface Read {
  readonly whole: number;
  readonly failed: number;
}

/** The pull request with more than a short page of everything. */
async function setUpHostile(t: ExecutionContext) {
  t.log(`TEST_SEED=${SEED} draws the same again`);
  const { simulated, forge } = await setUp(t, 'github', {}, { checked: true, hostile: SEED });
  const plain = await setUp(t, 'github', {}, { checked: true });
  const refs = [simulated, plain.simulated].map((on) => {
    const { ref, head } = openPullRequest(on);
    for (const nth of ['one', 'two', 'three', 'four']) {
      on.commit(SITE, 'topic', { [`${nth}.txt`]: nth });
      on.label(SITE, ref.number, nth);
      on.comment(SITE, ref.number, nth, 'Hello');
      on.review(SITE, ref.number, nth, 'approved');
      // Of an unknown state nothing is known, so that it counts as pending.
      on.setStatus(SITE, head(), { context: nth, state: 'pending', description: '', author: nth });
    }
    for (const nth of ['one', 'two', 'three']) {
      const { id } = on.commentInline(SITE, ref.number, nth, { path: 'src/app.ts', line: 2, body: 'Why?' });
      on.resolve(SITE, ref.number, id, nth === 'two' ? 'bob' : undefined);
    }
    const comment = on.comment(SITE, ref.number, 'bob', 'Once');
    on.editComment(SITE, ref.number, comment.id, 'Twice');
    for (const head of ['second', 'third', 'fourth']) {
      on.commit(SITE, head, { [`${head}.txt`]: head });
      on.enqueue(SITE, on.openPullRequest(SITE, { head }));
    }
    return ref;
  });
  const [ref = { repository: SITE, number: 0 }] = refs;
  const headsOn = (on: SimulatedForge) => [on.pull(SITE, ref.number).headSha];
  return { simulated, forge, plain, ref, headsOn };
}

/** Without what differs from forge to forge: addresses, commits, times. */
function comparable(read: unknown): unknown {
  const text = JSON.stringify(read, (_, value) => (value instanceof Map ? [...value] : value));
  return JSON.parse(
    text
      .replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, '')
      .replaceAll(/\b[0-9a-f]{40}\b/g, 'commit')
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'time'),
  );
}

/** Reads often. What is read is as given, or as far as it is known; else the reading fails as one of a forge. */
async function readOften(t: ExecutionContext, wanted: unknown, read: () => Promise<unknown>): Promise<Read> {
  let failed = 0;
  for (let count = 0; count < ANSWERS; count += 1) {
    const found = await read().catch((error: unknown) => error);
    if (found instanceof ForgeError) {
      failed += 1;
    } else {
      t.deepEqual(comparable(found), comparable(wanted));
    }
  }
  return { whole: ANSWERS - failed, failed };
}

async function factsOf(forge: Forge, ref: PullRequestRef) {
  const read = await forge.pullRequestWithFacts(ref, PATHS);
  return {
    pullRequest: read?.pullRequest,
    preloaded: read?.preloaded ?? {},
    files: Object.fromEntries(read?.files ?? []),
  };
}

test('no odd answer to GraphQL changes a pull request or a fact of it', async (t) => {
  const { simulated, forge, plain, ref } = await setUpHostile(t);
  const wanted = await factsOf(plain.forge, ref);
  await forge.self();
  simulated.forgetRequests();
  let facts = 0;
  await readOften(t, wanted, async () => {
    const read = await factsOf(forge, ref);
    facts += Object.keys(read.preloaded).length;
    // What is not known is read by REST; the number of comments comes from either.
    const { commentCount } = wanted.pullRequest ?? {};
    return {
      pullRequest: read.pullRequest && { ...read.pullRequest, commentCount },
      preloaded: { ...wanted.preloaded, ...read.preloaded },
      files: { ...wanted.files, ...read.files },
    };
  });
  t.true(facts > 0 && simulated.count('GET', /\/pulls\/:number$/) > 0, 'some answers are used, and some are not');
});

test('no odd answer to GraphQL changes a comment, a merge queue or an overview', async (t) => {
  const { simulated, forge, plain, ref, headsOn } = await setUpHostile(t);
  const { mergeQueue, overviews } = forge;
  const wanted = plain.forge;
  if (!mergeQueue || !overviews || !wanted.mergeQueue || !wanted.overviews) {
    throw new Error('the client has no merge queue or no overviews');
  }
  const reads = [
    await readOften(t, await plain.forge.comments(ref), () => forge.comments(ref)),
    await readOften(t, await wanted.conversations(ref, headsOn(plain.simulated)[0] ?? ''), () =>
      forge.conversations(ref, headsOn(simulated)[0] ?? ''),
    ),
    await readOften(t, await wanted.mergeQueue.entries(SITE, 'main'), () => mergeQueue.entries(SITE, 'main')),
  ];
  t.true(
    reads.every(({ whole, failed }) => whole > 0 && failed > 0),
    JSON.stringify(reads),
  );
  // What is not there, or is not all of it, is left out.
  const overview = await wanted.overviews.read([SITE]);
  await readOften(t, overview, async () => {
    const read = await overviews.read([SITE]);
    const known = (name: string) => Object.entries(read.get(name) ?? {}).filter(([, value]) => value !== undefined);
    return new Map([...overview].map(([name, whole]) => [name, { ...whole, ...Object.fromEntries(known(name)) }]));
  });
});

test('no odd answer to GraphQL makes a failed check pass', async (t) => {
  const { simulated, forge, headsOn } = await setUpHostile(t);
  const [sha = ''] = headsOn(simulated);
  for (const [file, results] of [
    ['a.yml', ['failure', 'skipped']],
    ['b.yml', ['failure', 'success']],
    ['c.yml', ['success', 'cancelled']],
  ] as const) {
    for (const conclusion of results) {
      const suite = simulated.openSuite(SITE, sha, 'github-actions', { file });
      simulated.runCheck(SITE, sha, { name: 'test', app: 'github-actions', suite, conclusion });
    }
  }
  let whole = 0;
  for (let count = 0; count < ANSWERS; count += 1) {
    const read = await forge.checks(SITE, sha).catch((error: unknown) => error);
    if (!(read instanceof ForgeError)) {
      const { checks, complete } = read as Checks;
      whole += complete ? 1 : 0;
      t.true(!complete || checks.some(({ name, state }) => name === 'test' && state !== 'success'));
    }
  }
  t.true(whole > 0 && whole < ANSWERS, `${whole}`);
});

test('an id above 2^53 keeps all its digits, by GraphQL and by REST', async (t) => {
  const { simulated, forge, another, ref } = await setUpPull(t, 'github');
  const { id } = await forge.createComment(ref, 'Hello');
  const replace = (path: RegExp, text: string, by: string) =>
    simulated.fault({ path, times: 1, fault: { kind: 'replace', text, by } });

  replace(/\/facts$/, `"fullDatabaseId":"${id}"`, `"fullDatabaseId":"${LARGE}"`);
  t.is((await factsOf(forge, ref)).preloaded.ownComments?.[0]?.id, LARGE);
  replace(/\/graphql.*\/comments$/, `#issuecomment-${id}`, `#issuecomment-${LARGE}`);
  t.is((await forge.comments(ref))[0]?.id, LARGE);
  replace(/\/issues\/\d+\/comments$/, `"id":${id}`, `"id":${LARGE}`);
  t.is((await another().ownComments(ref))[0]?.id, LARGE);

  await t.throwsAsync(forge.updateComment(ref, LARGE, 'Bye'));
  t.is(simulated.seen.at(-1)?.path, `/repos/${SITE}/issues/comments/${LARGE}`);
});

/** The descriptions of all versions are read in this process meanwhile. */
const MAX_ATTEMPTS = 30;

/** What a review reads by REST, without what differs from forge to forge: addresses, commits, times. */
async function readAll(t: ExecutionContext, options: Partial<SimulatedForgeOptions>): Promise<unknown> {
  const { simulated, forge } = await setUp(t, 'github', {}, { checked: true, ...options });
  simulated.createTeam('platform/security', ['bob']);
  simulated.addMember('platform', 'gatehouse');
  simulated.addMember('platform', 'bob');
  const { ref, head } = openPullRequest(simulated);
  simulated.label(SITE, ref.number, 'bug');
  simulated.review(SITE, ref.number, 'bob', 'approved');
  simulated.comment(SITE, ref.number, 'alice', 'Ready');
  simulated.runCheck(SITE, head(), { name: 'test', app: 'ci', conclusion: 'success' });
  await forge.setStatus(SITE, head(), { context: 'gatehouse', state: 'failure', description: statusDescription('x') });
  await forge.createComment(ref, 'Fix this');
  const comment = { path: 'src/app.ts', line: 2, body: 'Here' };
  await forge.createInlineComments(ref, head(), [comment], []);
  const access = forge.writeAccess(SITE);
  /** Where an odd answer to GraphQL leaves open who may write, REST is asked. */
  const told = (reviews: readonly PersonReview[]) =>
    Promise.all(
      reviews.map(async (review) =>
        review.mayWrite === 'unknown' ? { ...review, mayWrite: await access(review.author) } : review,
      ),
    );
  const read = [
    // Where an odd answer to GraphQL leaves it to REST, the number of comments is known.
    { ...(await forge.pullRequest(ref)), commentCount: undefined },
    await forge.changedFiles(ref, head()),
    await forge.commits(ref, { signatures: true, signers: true }),
    await told(await forge.reviews(ref)),
    await forge.requestedReviews(ref),
    await forge.ask(ref, TRIAGE),
    await patiently(() => forge.comments(ref)),
    await forge.ownComments(ref),
    await forge.ownInlineComments(ref, head()),
    await patiently(() => forge.conversations(ref, head())),
    await patiently(() => forge.checks(SITE, head())),
    await forge.status(SITE, head(), 'gatehouse'),
    await forge.teamMembers('platform/security'),
    await forge.organisationMembers('platform', ['bob', 'mallory']),
    await forge.repository(SITE),
    await forge.fileAt(SITE, 'README.md', head()),
    await forge.tree(SITE, head()),
    await forge.openPullRequests(SITE),
    await access('bob'),
  ];
  return comparable(read);
}

/** An odd answer to GraphQL fails, and the next one may be whole: a worker reads again, too. */
async function patiently<T>(read: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof ForgeError) || attempt === MAX_ATTEMPTS) {
        throw error;
      }
    }
  }
}

for (const version of VERSIONS) {
  test(`${version}: what else GitHub may send changes nothing that is read`, async (t) => {
    t.log(`TEST_SEED=${SEED} draws the same again`);
    t.deepEqual(await readAll(t, { version, hostile: SEED }), await readAll(t, { version }));
  });
}
