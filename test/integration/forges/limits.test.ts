import type { ExecutionContext } from 'ava';
import type { Redis } from 'ioredis';
import { makeGitHubClient } from '../../../src/forges/github/client.ts';
import { makeGitHub } from '../../../src/forges/github/github.ts';
import { makePause } from '../../../src/forges/limits/pause.ts';
import { makeTurns, type Turns } from '../../../src/forges/limits/turns.ts';
import { makeOptionalRedis } from '../../../src/forges/optional-redis.ts';
import { statusDescription } from '../../../src/forges/port/postings.ts';
import { makeAgent } from '../../../src/forges/transport/agent.ts';
import { makeForgeFetch } from '../../../src/forges/transport/forge-fetch.ts';
import { CLIENTS } from '../../helpers/forges.ts';
import { PATIENCE } from '../../helpers/patience.ts';
import test from '../../helpers/test.ts';
import { until } from '../../helpers/until.ts';
import { forgeError, SITE, setUpPull, startRedis } from './setup.ts';

const redisServer = await startRedis();
test.after.always(() => redisServer.stop());

/** The test's Redis shares its event loop: a slow answer is no failure here. */
const patient = (redis: Redis = redisServer.connect()) => makeOptionalRedis(redis, undefined, PATIENCE);
const noRedis = makeOptionalRedis(undefined);

const STATUS = { context: 'gatehouse', state: 'pending', description: statusDescription('') } as const;
const ORIGIN = 'https://forge.example.test';
const inMinutes = (minutes: number) => Date.now() + minutes * 60_000;

for (const name of CLIENTS) {
  test(`${name}: a limit that one replica met pauses the others`, async (t) => {
    const { simulated, forge, another, ref } = await setUpPull(t, name, { redis: redisServer.connect() });
    const other = another({ redis: redisServer.connect() });
    const before = Date.now();
    simulated.fault({ times: 1, fault: { kind: 'too-many', retryAfter: 120 } });

    const met = await forgeError(t, () => forge.reviews(ref));
    const paused = await forgeError(t, () => other.commits(ref));
    const writing = await forgeError(t, () => other.createComment(ref, 'Hello'));

    t.is(met.kind, 'rate-limited');
    t.is(met.status, 429);
    t.true((met.retryAt ?? 0) >= before + 120_000 && (met.retryAt ?? 0) <= Date.now() + 120_000);
    t.deepEqual([paused.kind, writing.kind], ['rate-limited', 'rate-limited']);
    t.is(paused.retryAt, met.retryAt);
    t.is(simulated.seen.length, 1);
  });

  test(`${name}: without Redis a replica still pauses itself`, async (t) => {
    const { simulated, forge, ref } = await setUpPull(t, name);
    simulated.fault({ times: 1, fault: { kind: 'too-many', retryAfter: 120 } });
    await forgeError(t, () => forge.pullRequest(ref));
    t.is((await forgeError(t, () => forge.pullRequest(ref))).kind, 'rate-limited');
    t.is(simulated.seen.length, 1);
  });

  test(`${name}: after a short wait the request goes through by itself`, async (t) => {
    const { simulated, forge, ref } = await setUpPull(t, name);
    simulated.fault({ times: 1, fault: { kind: 'too-many', retryAfter: 1 } });
    t.is((await forge.createComment(ref, 'Refused first')).body, 'Refused first');
    t.is(simulated.count('POST'), 2);
  });
}

test('github: a secondary limit without a time is a wait of a minute', async (t) => {
  const { simulated, forge, ref } = await setUpPull(t, 'github');
  const before = Date.now();
  simulated.fault({ fault: { kind: 'secondary-limit' } });
  const error = await forgeError(t, () => forge.createComment(ref, 'x'));
  t.is(error.kind, 'rate-limited');
  t.true((error.retryAt ?? 0) >= before + 60_000);
  t.is(simulated.seen.length, 1);
});

test('github: a refusal is not taken for a limit', async (t) => {
  const { simulated, forge, ref } = await setUpPull(t, 'github');
  simulated.fault({ fault: { kind: 'status', status: 403 } });
  t.is((await forgeError(t, () => forge.createComment(ref, 'x'))).kind, 'refused');
});

/** What GitHub's limit leaves, of how many requests. */
const LEFT = [
  ['after the last request of a window, the next waits for its end', { remaining: 1 }, 1],
  ['an exhausted limit is met only once', { remaining: 0 }, 0],
  ['of a small limit, a tenth is for statuses', { limit: 60, remaining: 8 }, 2],
] as const;
for (const [title, limit, answered] of LEFT) {
  test(`github: ${title}`, async (t) => {
    const { simulated, forge } = await setUpPull(t, 'github');
    Object.assign(simulated.rateLimit, limit);
    for (let read = 0; read < answered; read += 1) {
      t.is((await forge.openPullRequests(SITE))?.pullRequests.length, 1);
    }
    const met = answered === 0 ? await forgeError(t, () => forge.openPullRequests(SITE)) : undefined;
    t.is(met?.kind, answered === 0 ? 'rate-limited' : undefined);
    const error = await forgeError(t, () => forge.openPullRequests(SITE));
    t.is(error.kind, 'rate-limited');
    t.true(Math.abs((error.retryAt ?? 0) - simulated.rateLimit.resetAt * 1_000) < 5_000);
    t.is(simulated.seen.length, Math.max(answered, 1));
  });
}

test('github: the last 100 requests of an hour are for statuses, in all replicas', async (t) => {
  const { simulated, forge, another, ref, head } = await setUpPull(t, 'github', { redis: redisServer.connect() });
  const other = another({ redis: redisServer.connect() });
  // Less than an hour away: no pause is longer.
  Object.assign(simulated.rateLimit, { remaining: 102, resetAt: Math.ceil(Date.now() / 1_000) + 1_800 });
  await forge.commits(ref);
  await forge.commits(ref);
  t.is(simulated.rateLimit.remaining, 100);

  for (const replica of [forge, other]) {
    for (const ask of [() => replica.commits(ref), () => replica.createComment(ref, 'Hello')]) {
      const { kind, retryAt } = await forgeError(t, ask);
      t.is(kind, 'rate-limited');
      t.is(retryAt, simulated.rateLimit.resetAt * 1_000);
    }
    await replica.setStatus(SITE, head(), STATUS);
  }
  t.is(simulated.rateLimit.remaining, 98);
});

test('the later of two pauses wins, in any order', async (t) => {
  const one = makePause(patient(), ORIGIN);
  const two = makePause(patient(), ORIGIN);
  const [sooner, later] = [inMinutes(5), inMinutes(10)];
  await one.pauseUntil('a', sooner);
  await two.pauseUntil('a', later);
  t.is(await one.pausedUntil('a'), later);
  await one.pauseUntil('b', later);
  t.is(await two.pauseUntil('b', sooner), later);
  t.is(await two.pausedUntil('b'), later);
});

test('a pause is kept by a hash of the token, never by the token', async (t) => {
  const redis = redisServer.connect();
  const { simulated, forge, ref } = await setUpPull(t, 'gitea', { redis });
  simulated.fault({ times: 1, fault: { kind: 'too-many', retryAfter: 120 } });
  await forgeError(t, () => forge.pullRequest(ref));
  const kept = (await redis.keys('gatehouse:pause:*')).filter((key) => key.includes(simulated.url));
  t.is(kept.length, 1);
  t.regex(kept[0] ?? '', /:token-[0-9a-f]{16}:secondary$/);
  t.false(kept.some((key) => key.includes(simulated.token)));
});

test('pauses of different scopes and forges are independent', async (t) => {
  const shared = patient();
  await makePause(shared, ORIGIN).pauseUntil('installation-1', inMinutes(5));
  t.is(await makePause(shared, ORIGIN).pausedUntil('installation-2'), undefined);
  t.is(await makePause(shared, 'https://other.example.test').pausedUntil('installation-1'), undefined);
});

test('a pause ends by itself, in Redis too', async (t) => {
  const redis = redisServer.connect();
  const pause = makePause(patient(redis), ORIGIN);
  await pause.pauseUntil('passing', inMinutes(5));
  const [key = ''] = await redis.keys('gatehouse:pause:*:passing');
  const ttl = await redis.pttl(key);
  t.true(ttl > 0 && ttl <= 5 * 60_000);
  const another = makePause(patient(redis), ORIGIN);
  await redis.set(key, String(Date.now() - 1));
  t.is(await another.pausedUntil('passing'), undefined);
});

test('a wait of days is cut to an hour', async (t) => {
  const pause = makePause(noRedis, ORIGIN);
  const until = await pause.pauseUntil('a', inMinutes(60 * 24 * 365));
  t.true(until <= inMinutes(60));
});

test('losing the pause in Redis does not end it for the replica that met the limit', async (t) => {
  const redis = redisServer.connect();
  const pause = makePause(patient(redis), ORIGIN);
  const until = await pause.pauseUntil('lost', inMinutes(5));
  await redis.del(...(await redis.keys('gatehouse:pause:*:lost')));
  t.is(await pause.pausedUntil('lost'), until);
});

test('a replica that starts knows of a pause before its connection to Redis is there', async (t) => {
  const until = inMinutes(5);
  await makePause(patient(), ORIGIN).pauseUntil('early', until);
  const connecting = redisServer.connect({ enableOfflineQueue: false });
  t.is(await makePause(patient(connecting), ORIGIN).pausedUntil('early'), until);
});

test('a pause in Redis that ends in the far future is ignored', async (t) => {
  const redis = redisServer.connect();
  const pause = makePause(patient(redis), ORIGIN);
  await redis.set(`gatehouse:pause:${ORIGIN}:far`, String(inMinutes(60 * 24 * 365)));
  t.is(await pause.pausedUntil('far'), undefined);
  const until = inMinutes(5);
  t.is(await pause.pauseUntil('far', until), until);
  t.is(await makePause(patient(redis), ORIGIN).pausedUntil('far'), until);
  redis.disconnect();
});

/** A forge of which comments take their turns. */
async function openWith(t: ExecutionContext, turns: Turns) {
  const { simulated, ref, head } = await setUpPull(t, 'github');
  const agent = makeAgent();
  const deps = {
    forge: 'github',
    origin: simulated.url,
    dispatcher: agent,
    pause: makePause(noRedis, ''),
    hooks: {},
    turns,
  } as const;
  const client = makeGitHubClient({
    baseUrl: `${simulated.url}/api/v3`,
    credentials: { kind: 'token', token: simulated.token },
    fetchFor: (scope) => makeForgeFetch(deps, scope),
  });
  const forge = makeGitHub(client, () => agent.close());
  t.teardown(() => forge.close());
  return { forge, ref, head };
}

test('comments take turns, statuses and reads do not', async (t) => {
  let turns = 0;
  const { forge, ref, head } = await openWith(t, {
    take(_scope, write) {
      turns += 1;
      return write();
    },
  });
  const { id } = await forge.createComment(ref, 'Hello');
  await forge.updateComment(ref, id, 'Hello again');
  await forge.deleteComment(ref, id);
  t.is(turns, 3);
  await forge.setStatus(SITE, head(), STATUS);
  await forge.ownComments(ref);
  t.is(turns, 3);
});

test('comments of a credential are written one after the other, also after a failure', async (t) => {
  const turns = makeTurns(noRedis, 'order', 10);
  const order: string[] = [];
  const write = (name: string) => async () => {
    order.push(`${name} begins`);
    await new Promise((resolve) => setTimeout(resolve, 5));
    order.push(`${name} ends`);
    if (name === 'a') {
      throw new Error('refused');
    }
  };
  const first = turns.take('token', write('a'));
  await Promise.all([t.throwsAsync(first), turns.take('token', write('b')), turns.take('token', write('c'))]);
  t.deepEqual(order, ['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
});

test('a second that another replica has is waited for, and other credentials are not', async (t) => {
  const redis = redisServer.connect();
  const turns = makeTurns(patient(), 'shared', 10);
  await redis.set('gatehouse:turn:shared:token', '', 'PX', 600_000);
  let written = false;
  const waiting = turns.take('token', async () => {
    written = true;
  });
  await turns.take('another', async () => {});
  t.false(written);
  await redis.del('gatehouse:turn:shared:token');
  await waiting;
  await until(async () => (await redis.exists('gatehouse:turn:shared:token')) === 0);
  t.true(written);
});
