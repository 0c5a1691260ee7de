import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import ava from 'ava';
import { closeRedis, makeRedis } from '../../src/db/redis.ts';
import { makeLog } from '../../src/log.ts';
import { makeMigratedDatabase, sharedRedisUrl } from '../helpers/database.ts';
import { type GatehouseProcess, gatehouse } from '../helpers/process.ts';

const test = ava.serial;

async function withWorker(
  env: Readonly<Record<string, string>>,
  work: (worker: GatehouseProcess) => Promise<void>,
): Promise<void> {
  const database = await makeMigratedDatabase();
  const worker = gatehouse(['work'], {
    DATABASE_URL: database.url,
    REDIS_URL: await sharedRedisUrl(),
    FORGE_TOKEN: 'never used',
    FORGE: 'gitea',
    FORGE_URL: 'http://127.0.0.1:9',
    PORT: '0',
    METRICS_PORT: '0',
    HOST: '127.0.0.1',
    DRAIN_SECONDS: '0',
    ...env,
  });
  try {
    await work(worker);
  } finally {
    worker.child.kill('SIGKILL');
    await worker.ended();
    await database.drop();
  }
}

test('a worker that gets SIGTERM while it starts exits with 0', async (t) => {
  await withWorker({}, async ({ child, ended, logged }) => {
    await logged('Gatehouse is listening');
    child.kill('SIGTERM');
    t.is((await ended()).code, 0);
  });
});

test('a Redis connection closed while connecting is not logged as an outage', async (t) => {
  const log = makeLog('silent');
  const told: unknown[] = [];
  log.warn = (...words: unknown[]) => told.push(words);
  for (const wait of [0, 1, 2]) {
    const redis = makeRedis(await sharedRedisUrl(), log);
    const ended = once(redis, 'end');
    await sleep(wait);
    closeRedis(redis);
    await ended;
  }
  t.deepEqual(told, []);
});

test('a worker whose port is in use logs it and exits with 1', async (t) => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  await withWorker({ PORT: String(port) }, async ({ ended }) => {
    const { code, stdout } = await ended();
    t.is(code, 1);
    t.regex(stdout, /EADDRINUSE/);
  });
  other.close();
});
