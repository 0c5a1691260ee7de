import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { closeRedis, makeRedis } from '../../src/db/redis.ts';
import { makeLog } from '../../src/log.ts';
import { makeMigratedDatabase, sharedRedisUrl } from '../helpers/database.ts';
import { inTime } from '../helpers/deadline.ts';
import { startFakeRedis } from '../helpers/fake-redis.ts';
import { type GatehouseProcess, gatehouse } from '../helpers/process.ts';
import ava from '../helpers/test.ts';

const test = ava.serial;

async function withWorker(
  env: Readonly<Record<string, string>>,
  work: (worker: GatehouseProcess) => Promise<void>,
): Promise<void> {
  const database = await makeMigratedDatabase();
  const worker = gatehouse(['work'], {
    DATABASE_URL: database.url,
    REDIS_URL: await sharedRedisUrl(),
    FORGE_TOKEN: 'never-used',
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
