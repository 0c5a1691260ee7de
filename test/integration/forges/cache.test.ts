import { randomBytes } from 'node:crypto';
import { type AddressInfo, createServer } from 'node:net';
import test from 'ava';
import { Redis } from 'ioredis';
import type { ForgeHooks } from '../../../src/forges/transport/forge-fetch.ts';
import { PATIENCE } from '../../helpers/patience.ts';
import { headOf, openPullRequest, SITE, setUp, startOwnRedis, startRedis } from './setup.ts';

const redisServer = await startRedis();
test.after.always(() => redisServer.stop());

type Seen = Parameters<NonNullable<ForgeHooks['onRequest']>>[0];

/** Hooks that record their calls. */
function recorder() {
  const seen: Seen[] = [];
  const remaining: number[] = [];
  const hooks: ForgeHooks = {
    onRequest: (request) => seen.push(request),
    onRateLimit: (limit) => remaining.push(limit.remaining),
  };
  return { hooks, remaining, caches: () => seen.splice(0).map((request) => request.cache), seen };
}

test('a repeated request is answered 304, and does not count against the limit', async (t) => {
  const { hooks, caches, remaining } = recorder();
  const { simulated, forge } = await setUp(t, 'github', { redis: redisServer.connect(), hooks });
  openPullRequest(simulated);

  const first = await forge.openPullRequests(SITE);
  const second = await forge.openPullRequests(SITE);
  const third = await forge.openPullRequests(SITE);

  t.deepEqual(caches(), ['miss', 'revalidated', 'revalidated']);
  t.deepEqual(second, first);
  t.deepEqual(third, first);
  t.deepEqual(
    simulated.seen.map((request) => request.status),
    [200, 304, 304],
  );
  t.deepEqual(remaining, [4_999, 4_999, 4_999]);
});

test('a change is seen at once, although answers may be cached for a minute', async (t) => {
  const { hooks, caches } = recorder();
  const { simulated, forge } = await setUp(t, 'github', { redis: redisServer.connect(), hooks });
  const { ref } = openPullRequest(simulated, { title: 'feat: one' });
  await forge.openPullRequests(SITE);
  simulated.edit(SITE, ref.number, { title: 'feat: two' });
  t.is((await forge.openPullRequests(SITE))?.pullRequests[0]?.title, 'feat: two');
  simulated.edit(SITE, ref.number, { title: 'feat: three' });
  t.is((await forge.openPullRequests(SITE))?.pullRequests[0]?.title, 'feat: three');
  t.is((await forge.openPullRequests(SITE))?.pullRequests[0]?.title, 'feat: three');
  t.deepEqual(caches(), ['miss', 'miss', 'miss', 'revalidated']);
});

test('an answer is confirmed by its ETag alone, never by a date', async (t) => {
  const { simulated, forge } = await setUp(t, 'github', { redis: redisServer.connect() });
  openPullRequest(simulated);
  await forge.openPullRequests(SITE);
  await forge.openPullRequests(SITE);
  const [, second] = simulated.seen;
  t.regex(second?.headers['if-none-match'] ?? '', /^W\/"/);
  t.is(second?.headers['if-modified-since'], undefined);
});

test('a file at a commit is requested once, a file at a branch each time', async (t) => {
  const { hooks, caches } = recorder();
  const { simulated, forge } = await setUp(t, 'github', { redis: redisServer.connect(), hooks });
  const sha = simulated.head(SITE, 'main');
  for (const ref of [sha, sha, 'main', 'main']) {
    t.is(await forge.fileAt(SITE, 'README.md', ref), 'Hello\n');
  }
  t.deepEqual(caches(), ['miss', 'miss', 'revalidated']);
  t.is(simulated.seen.length, 3);
});

test('a compressed answer is kept as it came and read back whole', async (t) => {
  const { hooks, caches } = recorder();
  const { simulated, forge, another } = await setUp(t, 'github', { redis: redisServer.connect(), hooks });
  const text = 'a line that compresses well\n'.repeat(2_000);
  const sha = simulated.commit(SITE, 'main', { 'long.txt': text });
  for (const [client, ref] of [
    [forge, sha],
    [another(), sha],
    [forge, 'main'],
    [forge, 'main'],
  ] as const) {
    t.is(await client.fileAt(SITE, 'long.txt', ref), text);
  }
  t.deepEqual(caches(), ['miss', 'hit', 'miss', 'revalidated']);
});

test('replicas share the cache', async (t) => {
  const one = recorder();
  const two = recorder();
  const { simulated, forge, another } = await setUp(t, 'github', { redis: redisServer.connect(), hooks: one.hooks });
  const { ref } = openPullRequest(simulated);
  await forge.changedFiles(ref, headOf(simulated, ref.number));
  const second = await another({ redis: redisServer.connect(), hooks: two.hooks }).changedFiles(
    ref,
    headOf(simulated, ref.number),
  );
  t.is(second.files.length, 1);
  t.deepEqual(two.caches(), ['revalidated']);
});

test('no answer reaches another credential, and no credential reaches Redis', async (t) => {
  const redis = redisServer.connect(1);
  const { simulated } = await setUp(t, 'github', { redis });
  const { makeForge } = await import('../../../src/forges/make-forge.ts');
  openPullRequest(simulated);
  const sha = simulated.head(SITE, 'main');
  simulated.addToken('token-of-somebody-else', 'mallory');
  const recorders = [recorder(), recorder()];
  for (const [index, token] of [simulated.token, 'token-of-somebody-else'].entries()) {
    const hooks = recorders[index]?.hooks ?? {};
    const credentials = { kind: 'token', token } as const;
    const forge = makeForge({ forge: 'github', url: simulated.url, credentials }, { redis, hooks, patience: PATIENCE });
    t.teardown(() => forge.close());
    await forge.openPullRequests(SITE);
    await forge.fileAt(SITE, 'README.md', sha);
  }
  t.deepEqual(
    recorders.map(({ caches }) => caches()),
    [
      ['miss', 'miss'],
      ['miss', 'miss'],
    ],
  );

  const keys = await redis.keys('*');
  const values = await Promise.all(keys.filter((key) => key.includes(':http:')).map((key) => redis.get(key)));
  const everything = [...keys, ...values].join('\n');
  t.is(values.length, 4);
  for (const secret of [simulated.token, 'token-of-somebody-else', 'README', 'src/app.ts', 'alice']) {
    t.false(everything.includes(secret), secret);
  }
});

test('entries expire, and one that is too large is not kept', async (t) => {
  const redis = redisServer.connect(2);
  const { hooks, caches } = recorder();
  const { simulated, forge } = await setUp(t, 'github', { redis, hooks });
  // Random text, which does not compress much: files enough for an answer above the limit.
  const files = Array.from({ length: 60 }, (_, index) => [
    `${index}.txt`,
    `${randomBytes(24_000).toString('base64')}\n`,
  ]);
  simulated.commit(SITE, 'topic', Object.fromEntries(files));
  const ref = { repository: SITE, number: simulated.openPullRequest(SITE, { head: 'topic' }) };
  t.is((await forge.changedFiles(ref, headOf(simulated, ref.number))).files.length, 60);
  t.is((await forge.changedFiles(ref, headOf(simulated, ref.number))).files.length, 60);
  await forge.fileAt(SITE, 'README.md', 'main');
  t.deepEqual(caches(), ['miss', 'miss', 'miss']);

  const keys = (await redis.keys('*')).filter((key) => key.includes(':http:'));
  t.is(keys.length, 1);
  const ttl = await redis.pttl(keys[0] ?? '');
  t.true(ttl > 0 && ttl <= 24 * 3_600_000);
});

test('an invalid cache entry is ignored', async (t) => {
  const redis = redisServer.connect(3);
  const { hooks, caches } = recorder();
  const { simulated, forge } = await setUp(t, 'github', { redis, hooks });
  const { ref } = openPullRequest(simulated);
  await forge.openPullRequests(SITE);
  for (const nonsense of ['', 'not JSON', '{}\n', '{"value":{},"variesByCredential":[]}\n{}']) {
    for (const key of await redis.keys('gatehouse:http:*')) {
      await redis.set(key, nonsense);
    }
    t.is((await forge.openPullRequests(SITE))?.pullRequests[0]?.number, ref.number);
  }
  t.deepEqual(caches(), ['miss', 'miss', 'miss', 'miss', 'miss']);
});

test('a cache entry that was changed or moved is ignored', async (t) => {
  const redis = redisServer.connect(4);
  await redis.flushdb();
  const { hooks, caches } = recorder();
  const { simulated, forge, another } = await setUp(t, 'github', { redis, hooks });
  const [before, after] = [simulated.head(SITE, 'main'), simulated.commit(SITE, 'main', { 'README.md': 'Evil\n' })];
  await forge.fileAt(SITE, 'README.md', before);
  const [ofBefore = ''] = await redis.keys('gatehouse:http:*');
  await forge.fileAt(SITE, 'README.md', after);
  const ofAfter = (await redis.keys('gatehouse:http:*')).find((key) => key !== ofBefore) ?? '';
  await redis.copy(ofAfter, ofBefore, 'REPLACE');
  await redis.setrange(ofAfter, 100, 'x');
  const fresh = another();
  t.is(await fresh.fileAt(SITE, 'README.md', before), 'Hello\n');
  t.is(await fresh.fileAt(SITE, 'README.md', after), 'Evil\n');
  t.deepEqual(caches(), ['miss', 'miss', 'miss', 'miss']);
});

test('writes bypass the cache', async (t) => {
  const { hooks, seen } = recorder();
  const { simulated, forge } = await setUp(t, 'github', { redis: redisServer.connect(), hooks });
  const { ref } = openPullRequest(simulated);
  await forge.createComment(ref, 'Hello');
  t.is(seen.length, 1);
  t.like(seen[0], { forge: 'github', method: 'POST', status: 201, cache: 'off' });
});

test('a broken answer is not kept', async (t) => {
  const { hooks } = recorder();
  const { simulated, forge } = await setUp(t, 'github', { redis: redisServer.connect(), hooks });
  const { ref } = openPullRequest(simulated);
  simulated.fault({ times: 2, afterwards: true, fault: { kind: 'drop' } });
  await t.throwsAsync(() => forge.commits(ref));
  t.is((await forge.commits(ref)).length, 1);
});

test('without Redis every answer is fetched', async (t) => {
  const { hooks, caches } = recorder();
  const { simulated, forge } = await setUp(t, 'github', { hooks });
  openPullRequest(simulated);
  await forge.openPullRequests(SITE);
  await forge.openPullRequests(SITE);
  t.deepEqual(caches(), ['off', 'off']);
});

test('losing Redis costs only the cache', async (t) => {
  const own = await startOwnRedis();
  const { simulated, forge } = await setUp(t, 'github', { redis: own.connect(), patience: 1 });
  const { ref } = openPullRequest(simulated);
  t.is((await forge.pullRequest(ref))?.number, ref.number);
  await own.stop();
  t.is((await forge.pullRequest(ref))?.number, ref.number);
  t.is((await forge.changedFiles(ref, headOf(simulated, ref.number))).files.length, 1);
  await forge.setStatus(SITE, simulated.head(SITE, 'main'), { context: 'c', state: 'success', description: '' });
});

test('a hung Redis costs only the cache', async (t) => {
  const silent = createServer(() => {});
  await new Promise<void>((resolve) => {
    silent.listen(0, '127.0.0.1', resolve);
  });
  const redis = new Redis((silent.address() as AddressInfo).port, '127.0.0.1').on('error', () => {});
  t.teardown(() => {
    redis.disconnect();
    silent.close();
  });
  const { simulated, forge } = await setUp(t, 'github', { redis, patience: 1 });
  const { ref } = openPullRequest(simulated);
  t.is((await forge.pullRequest(ref))?.number, ref.number);
  await forge.createComment(ref, 'Hello');
  t.is((await forge.ownComments(ref)).length, 1);
});

for (const name of ['gitea', 'forgejo'] as const) {
  test(`${name}: answers without validators are requested each time`, async (t) => {
    const { hooks, caches } = recorder();
    const { simulated, forge } = await setUp(t, name, { redis: redisServer.connect(), hooks });
    const { ref } = openPullRequest(simulated);
    await forge.pullRequest(ref);
    simulated.edit(SITE, ref.number, { title: 'fix: other' });
    t.is((await forge.pullRequest(ref))?.title, 'fix: other');
    t.deepEqual(caches(), ['miss', 'miss']);
  });
}
