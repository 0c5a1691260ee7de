import type { ExecutionContext } from 'ava';
import { migrateStores } from '../../src/composition/migrate-stores.ts';
import { openPool } from '../helpers/database.ts';
import { DOOR, type Door, openDoor } from '../helpers/door.ts';
import nightly from '../helpers/nightly.ts';
import { startProxy } from '../helpers/proxy.ts';
import { type Stores, startStores } from '../helpers/stores.ts';
import ava from '../helpers/test.ts';
import { until } from '../helpers/until.ts';

const test = ava.serial;

/** An answer that waits for the store never comes. How soon one comes is tested in test/unit/health.test.ts. */
const HANGS_MS = 30_000;

/** Of this file, because its tests stop and freeze them. */
let stores: Stores;
ava.before(async () => {
  stores = await startStores();
  await migrateStores(stores.database.url);
});
ava.after.always(() => stores?.close());

/** With no delivery in them. Afterwards both run again. */
async function withStores(work: (stores: Stores) => Promise<void>): Promise<void> {
  const pool = openPool(stores.database.url);
  await pool.query('TRUNCATE gatehouse.deliveries');
  await pool.end();
  try {
    await work(stores);
  } finally {
    await stores.database.start();
    await stores.redis.start();
  }
}

function doorOn(stores: Stores, change: Record<string, string> = {}): Promise<Door> {
  const env = { DATABASE_URL: stores.database.url, REDIS_URL: stores.redis.url, ...change };
  return openDoor(env, DOOR, { patience: 1 });
}

async function status(door: Door, path: string): Promise<number> {
  const response = await fetch(door.url + path);
  await response.arrayBuffer();
  return response.status;
}

async function isDown(t: ExecutionContext, door: Door, dependency: string): Promise<void> {
  const response = await fetch(`${door.url}/health`, { signal: AbortSignal.timeout(HANGS_MS) });
  const report = (await response.json()) as { error: Record<string, unknown>; info: Record<string, unknown> };
  t.is(response.status, 503);
  t.deepEqual(Object.keys(report.error), [dependency]);
  t.is(await status(door, '/health/live'), 200);
}

const healthy = (door: Door) => until(async () => (await status(door, '/health')) === 200);

test('with Redis down health names it, and deliveries are still acknowledged', async (t) => {
  await withStores(async (stores) => {
    await using door = await doorOn(stores);
    await healthy(door);
    await stores.redis.stop();
    await until(async () => (await status(door, '/health')) === 503);
    await isDown(t, door, 'redis');
    t.is((await door.post('{"while":"redis is stopped"}')).status, 200);
    await stores.redis.start();
    await healthy(door);
    t.is((await door.deliveries()).length, 1);
  });
});

for (const [dependency, name] of [
  ['database', 'PostgreSQL'],
  ['redis', 'Redis'],
] as const) {
  nightly(`with ${name} hung, health answers, and the door recovers by itself`, async (t) => {
    await withStores(async (stores) => {
      const proxy = await startProxy(stores[dependency].url);
      const variable = dependency === 'database' ? 'DATABASE_URL' : 'REDIS_URL';
      await using door = await doorOn(stores, { [variable]: proxy.url });
      await healthy(door);
      await stores[dependency].pause();
      await until(async () => (await status(door, '/health')) === 503);
      for (let look = 0; look < 8; look++) {
        await isDown(t, door, dependency);
      }
      // Seen from the store's side: those that hang are given up, not gathered. Each look may hold one.
      await until(() => proxy.open <= 3);
      const delivery = await door.post('{"while":"hung"}');
      t.is(delivery.status, dependency === 'database' ? 503 : 200);
      await stores[dependency].resume();
      await healthy(door);
      t.is((await door.post('{"after":"hung"}')).status, 200);
      await until(() => proxy.open <= 4);
      await proxy.close();
    });
  });
}

nightly('stores that answer 600 ms late are never down, from the first connection on', async (t) => {
  await withStores(async (stores) => {
    const [database, redis] = [await startProxy(stores.database.url), await startProxy(stores.redis.url)];
    // Each way. A new connection takes four round trips of the four seconds that it has.
    await Promise.all([database.delay(300), redis.delay(300)]);
    const door = await doorOn(stores, { DATABASE_URL: database.url, REDIS_URL: redis.url });
    await healthy(door);
    for (let look = 0; look < 3; look++) {
      t.deepEqual([await status(door, '/health/ready'), (await door.post('{}')).status], [200, 200]);
    }
    await door[Symbol.asyncDispose]();
    await Promise.all([database.close(), redis.close()]);
  });
});

nightly('a door that starts before its database becomes ready by itself', async (t) => {
  await withStores(async (stores) => {
    await stores.database.stop();
    await using door = await doorOn(stores);
    t.is(await status(door, '/health/live'), 200);
    t.is(await status(door, '/health/ready'), 503);
    await stores.database.start();
    await healthy(door);
    t.is((await door.post('{}')).status, 200);
  });
});

test('after a database crash the door reconnects, with every acknowledged delivery', async (t) => {
  await withStores(async (stores) => {
    await using door = await doorOn(stores);
    await healthy(door);
    const { rows } = await door.database.query(
      "SELECT current_setting('fsync') AS fsync, current_setting('synchronous_commit') AS synchronous",
    );
    t.deepEqual(rows, [{ fsync: 'on', synchronous: 'on' }], 'a commit is on disk before it is acknowledged');
    const acknowledged: string[] = [];
    for (let index = 0; index < 50; index++) {
      if (index === 25) {
        await stores.database.kill();
      }
      if (index === 30) {
        await isDown(t, door, 'database');
        await stores.database.start();
      }
      const id = `delivery-${index}`;
      const answer = await door.post(`{"n":${index}}`, { 'x-forge-delivery': id });
      if (answer.status === 200) {
        acknowledged.push(id);
      } else {
        t.is(answer.status, 503);
        t.regex(answer.headers.get('retry-after') ?? '', /^\d+$/);
      }
    }
    await healthy(door);
    t.true(acknowledged.length >= 25 && acknowledged.length <= 45);
    const stored = new Set((await door.deliveries()).map(({ deliveryId }) => deliveryId));
    t.deepEqual(
      acknowledged.filter((id) => !stored.has(id)),
      [],
    );
  });
});
