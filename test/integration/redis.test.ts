import { once } from 'node:events';
import type { ExecutionContext } from 'ava';
import { Redis } from 'ioredis';
import { closeRedis, makeRedis } from '../../src/db/redis.ts';
import { makeRedisProbe, REDIS_ACL, type RedisFault } from '../../src/db/redis-probe.ts';
import { makeLog } from '../../src/log.ts';
import { sharedRedisUrl } from '../helpers/database.ts';
import { inTime } from '../helpers/deadline.ts';
import { askDoctor } from '../helpers/doctor.ts';
import { openDoor } from '../helpers/door.ts';
import { resp, startFakeRedis } from '../helpers/fake-redis.ts';
import { startProxy } from '../helpers/proxy.ts';
import { startStores } from '../helpers/stores.ts';
import ava from '../helpers/test.ts';
import { until } from '../helpers/until.ts';

const test = ava.serial;
const TIMEOUT_MS = 4_000;
const DOOR = { FORGE: 'gitea', WEBHOOK_SECRET: 'a secret of the tests' };

/** What the probe says when it is connected, or knows why it is not. */
async function probed(url: string): Promise<RedisFault | undefined> {
  const probe = makeRedisProbe(url, TIMEOUT_MS);
  try {
    let fault: RedisFault | undefined;
    await until(async () => {
      fault = await probe.check();
      return fault?.reason !== 'is not connected';
    });
    return fault;
  } finally {
    probe.close();
  }
}

const doctorOf = async (url: string) => (await askDoctor([], { ...DOOR, REDIS_URL: url })).of('redis').join();

const hello = (mode: string) => resp(['server', 'redis', 'version', '8.0.2', 'proto', '2', 'mode', mode]);
for (const [name, mode, error, reason, action] of [
  ['a Cluster', 'cluster', 'MOVED 5649 10.0.0.2:6379', /Redis Cluster.* not support/, /one primary/],
  ['a Sentinel', 'sentinel', "ERR unknown command 'eval'", /is a Sentinel/, /address of the primary/],
  ['a replica', 'standalone', 'READONLY You can’t write against a read only replica.', /replica/, /primary/],
  ['a full one', 'standalone', "OOM command not allowed when used memory > 'maxmemory'.", /is full/, /maxmemory/],
  ['without a disk', 'standalone', 'MISCONF Redis is configured to save RDB snapshots', /its disk/, /log of Redis/],
  ['a lone primary', 'standalone', 'NOREPLICAS Not enough good replicas to write.', /too few replicas/, /min-/],
] as const) {
  test(`a Redis that answers PING and takes no write is never up: ${name}`, async (t) => {
    const redis = await startFakeRedis((command, args) =>
      command === 'hello' ? (args.length > 0 ? '-NOPROTO' : hello(mode)) : command === 'eval' ? `-${error}` : undefined,
    );
    t.regex((await probed(redis.url))?.reason ?? 'up', reason);
    const [, said = '', advice = ''] = /^✘ (.*) → (.*)$/.exec(await doctorOf(redis.url)) ?? [];
    t.regex(said, reason);
    t.regex(advice, action);
    await redis.close();
  });
}

async function withUser(t: ExecutionContext, rules: string, work: (url: string) => Promise<void>): Promise<void> {
  const url = new URL(await sharedRedisUrl());
  const admin = new Redis(url.href);
  t.teardown(() => admin.disconnect());
  await admin.call('ACL', 'SETUSER', 'small', 'reset', 'on', '>pw', ...rules.split(' '));
  url.username = 'small';
  url.password = 'pw';
  try {
    await work(url.href);
  } finally {
    await admin.call('ACL', 'DELUSER', 'small');
  }
}

test('the smallest ACL of the documents is enough, and ioredis prints nothing', async (t) => {
  const { warn, error } = console;
  const printed: unknown[] = [];
  Object.assign(console, {
    warn: (...words: unknown[]) => printed.push(words),
    error: (...words: unknown[]) => printed.push(words),
  });
  try {
    await withUser(t, REDIS_ACL, async (url) => {
      t.is(await probed(url), undefined);
      t.regex(await doctorOf(url), /^✔ answers, and accepts writes$/);
      await using door = await openDoor({ REDIS_URL: url });
      await until(async () => (await fetch(`${door.url}/health`)).status === 200);
    });
    t.deepEqual(printed, []);
  } finally {
    Object.assign(console, { warn, error });
  }
});

for (const lacking of ['&gatehouse:*', '+@write', '+@scripting', '+@pubsub', '~gatehouse:*']) {
  test(`a Redis whose ACL lacks a part is never up: ${lacking}`, async (t) => {
    const rules = REDIS_ACL.split(' ').filter((rule) => rule !== lacking);
    await withUser(t, ['resetchannels', ...rules].join(' '), async (url) => {
      t.regex((await probed(url))?.reason ?? 'up', /ACL forbids/);
      t.true((await doctorOf(url)).includes(REDIS_ACL));
    });
  });
}

test('a wrong password of Redis is named, in health and by doctor', async (t) => {
  await withUser(t, REDIS_ACL, async (right) => {
    const wrong = right.replace(':pw@', ':sesame@');
    t.is((await probed(wrong))?.reason, 'refused the credentials');
    t.regex(await doctorOf(wrong), /^✘ .*WRONGPASS/);
  });
});

test('a connection to a primary that became a replica is replaced', async (t) => {
  const stores = await startStores();
  const admin = new Redis(stores.redis.url);
  const probe = makeRedisProbe(stores.redis.url, TIMEOUT_MS);
  const redis = makeRedis(stores.redis.url, makeLog('silent'));
  try {
    await until(async () => (await probe.check()) === undefined && redis.status === 'ready');
    const idOf = () => redis.client('ID');
    const before = await idOf();
    await admin.replicaof('127.0.0.1', '1');
    await until(async () => (await probe.check())?.reason === 'is a read-only replica');
    await t.throwsAsync(redis.set('gatehouse:any', '1'), { message: /READONLY/ });
    await admin.replicaof('NO', 'ONE');
    await until(async () => redis.status === 'ready' && (await probe.check()) === undefined);
    t.not(await idOf(), before);
  } finally {
    closeRedis(redis);
    probe.close();
    admin.disconnect();
    await stores.close();
  }
});

test('an address that leads to another Redis is followed, once that one takes writes', async (t) => {
  const [first, second] = await Promise.all([startStores(), startStores()]);
  const proxy = await startProxy(first.redis.url);
  const admin = new Redis(second.redis.url);
  try {
    t.regex(await doctorOf(proxy.url), /^✔ answers, and accepts writes$/);
    await using door = await openDoor({ REDIS_URL: proxy.url });
    await until(async () => (await fetch(`${door.url}/health`)).status === 200);
    await admin.replicaof('127.0.0.1', '1');
    proxy.lead(second.redis.url);
    proxy.cut();
    await until(async () => {
      const report = await fetch(`${door.url}/health`);
      return (await report.text()).includes('is a read-only replica');
    });
    await admin.replicaof('NO', 'ONE');
    await until(async () => (await fetch(`${door.url}/health`)).status === 200);
    const { status } = await door.post('{}');
    t.is(status, 200);
    t.true(((await admin.client('LIST')) as string).includes('name=gatehouse'));
  } finally {
    admin.disconnect();
    await proxy.close();
    await Promise.all([first.close(), second.close()]);
  }
});

test('a Redis connection closed while connecting is not logged as an outage', async (t) => {
  const log = makeLog('silent');
  const told: unknown[] = [];
  log.warn = (...words: unknown[]) => told.push(words);
  // At once, while it dials, when it is through, and at each of the four commands by which it introduces itself.
  for (let moment = 0; moment <= 6; moment += 1) {
    let passed = 0;
    const pass = () => {
      if (passed === moment) {
        closeRedis(redis);
      }
      passed += 1;
      return undefined;
    };
    const server = await startFakeRedis(pass);
    t.teardown(() => server.close());
    const redis = makeRedis(server.url, log);
    const ended = once(redis, 'end');
    redis.once('connect', pass);
    pass();
    // After the tick in which the client dials, and before the event loop tells it of an answer.
    process.nextTick(pass);
    await inTime(`the client that was closed at moment ${moment} has ended`, ended);
  }
  t.deepEqual(told, []);
});
