import { randomUUID } from 'node:crypto';
import { type AddressInfo, createServer } from 'node:net';
import type { ExecutionContext } from 'ava';
import pg from 'pg';
import { migrateStores } from '../../src/composition/migrate-stores.ts';
import { makeLackingCheck } from '../../src/db/lacking.ts';
import { makeInboxPool, makePool, makeProbePool } from '../../src/db/pool.ts';
import { probeDatabase } from '../../src/db/probes.ts';
import { makeLog } from '../../src/log.ts';
import { makeDatabase, makeMigratedDatabase, openPool } from '../helpers/database.ts';
import { DOOR, type Door, openDoor } from '../helpers/door.ts';
import nightly from '../helpers/nightly.ts';
import { type Ending, endWaiting } from '../helpers/postgres-server.ts';
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

const TIMEOUT_MS = 4_000;
const POOLS = { 'the inbox': makeInboxPool, 'the health check': makeProbePool, 'everything else': makePool } as const;

test('a connection that answered read-only is not used again, and every connection has a longest lifetime', async (t) => {
  const database = await makeMigratedDatabase();
  const admin = openPool(database.url);
  // Only sessions that begin later notice: as after a failover, when an address leads elsewhere and old ones stay open.
  const setReadOnly = (setting: 'on' | 'off') =>
    admin.query(
      `ALTER DATABASE ${new URL(database.url).pathname.slice(1)} SET default_transaction_read_only = ${setting}`,
    );
  for (const [name, open] of Object.entries(POOLS)) {
    await setReadOnly('on');
    const pool = open(database.url, makeLog('silent'));
    t.is(await probeDatabase(pool, TIMEOUT_MS, makeLackingCheck()), 'is read-only', name);
    // The session that was open before can still write.
    await setReadOnly('off');
    t.is(await probeDatabase(pool, TIMEOUT_MS, makeLackingCheck()), undefined, name);
    // So that a new address is followed.
    const seconds = pool.options.maxLifetimeSeconds ?? 0;
    t.true(seconds > 0 && seconds <= 60, `${name}: ${seconds} s`);
    await pool.end();
  }
  await admin.end();
  await database.drop();
});

test('a connection that breaks while its session is set up does not end the process', async (t) => {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => {
      socket.write(LOGGED_IN);
      socket.once('data', () => socket.resetAndDestroy());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  for (const open of Object.values(POOLS)) {
    const pool = open(`postgres://gatehouse@127.0.0.1:${port}/gatehouse`, makeLog('silent'));
    await t.throwsAsync(pool.query('SELECT 1'), { code: 'ECONNRESET' });
    await pool.end();
  }
  server.close();
});

test('a connection that is set up too slowly is never lost to its pool', async (t) => {
  const database = await makeDatabase();
  const proxy = await startProxy(database.url);
  const pool = makeInboxPool(proxy.url, makeLog('silent'));
  try {
    const held = await pool.connect();
    const waiting = pool.connect();
    pool.once('connect', () => void proxy.hang());
    held.release(true);
    await waiting.then(
      (client) => client.release(true),
      () => {},
    );
    await proxy.pass();
    await t.notThrowsAsync(pool.query('SELECT 1'));
  } finally {
    await proxy.close();
    await pool.end();
    await database.drop();
  }
});

/** PostgreSQL's answers to a login without a password: AuthenticationOk, and ReadyForQuery. */
const LOGGED_IN = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0, 0x5a, 0, 0, 0, 5, 0x49]);

let primary: Awaited<ReturnType<typeof startPrimary>>;
ava.before(async () => {
  primary = await startPrimary();
});
ava.after.always(() => primary?.close());

const ENDINGS = { cancelled: 'pg_cancel_backend', terminated: 'pg_terminate_backend' } as const;

for (const [how, end] of Object.entries(ENDINGS)) {
  for (const event of ['pull_request', 'ping']) {
    test(`a commit whose wait for the standby was ${how} is not acknowledged: ${event}`, async (t) => {
      await using door = await openDoor({ DATABASE_URL: await primary.makeDatabase() });
      const post = () =>
        door.post(PULL_REQUEST, { 'x-forge-event': event, 'x-forge-delivery': 'one' }).then(({ status }) => status);
      await using _standby = await primary.loseStandby();
      t.is(await primary.endWaiting(end, post()), 503);
      t.is((await door.deliveries()).length, 1, 'it is stored on the primary alone');
      t.is(await primary.endWaiting(end, post()), 503, 'a repeat, which finds the row that no standby has');
      await primary.regainStandby();
      await until(async () => (await post()) === 200);
      t.is((await door.deliveries()).length, 1);
    });
  }
}

/** A second, instead of four: how soon they give up is not what these are about. */
const SOON = 0.25;

const WRITERS = {
  'a delivery': async (url: string) => {
    await using door = await openDoor({ DATABASE_URL: url }, DOOR, { patience: SOON });
    return (await door.post(PULL_REQUEST)).status === 503;
  },
  'any other write': async (url: string) => {
    const pool = makePool(url, makeLog('silent'), SOON);
    const failed = await pool.query("SELECT pg_logical_emit_message(true, 'test', '')").then(
      () => false,
      () => true,
    );
    await pool.end();
    return failed;
  },
} as const;

for (const [what, write] of Object.entries(WRITERS)) {
  test(`no backend waits for a lost standby after its connection was cut: ${what}`, async (t) => {
    const url = await primary.makeDatabase();
    await using _standby = await primary.loseStandby();
    t.true(await write(url), 'it is given up');
    await until(async () => (await primary.countWaiting()) === 0);
    await primary.regainStandby();
  });
}

const PULL_REQUEST = JSON.stringify({
  action: 'opened',
  number: 7,
  pull_request: { number: 7 },
  repository: { full_name: 'acme/widgets' },
});

/** A PostgreSQL that waits for a standby at each commit, or not. */
async function startPrimary() {
  const stores = await startStores();
  const { url } = stores.database;
  const admin = openPool(url);
  const writer = new pg.Client({ connectionString: url, application_name: 'writer' });
  await writer.connect();
  let warned = false;
  writer.on('notice', () => {
    warned = true;
  });
  const commitWaits = async () => {
    warned = false;
    let settled = false;
    const written = writer.query("SELECT pg_logical_emit_message(true, 'test', '')").finally(() => {
      settled = true;
    });
    await until(async () => (await endWaiting(admin, 'pg_cancel_backend', 'writer')) > 0 || settled);
    await written;
    return warned;
  };
  /** The server reads the setting a little later: only a commit tells whether it waits. */
  const setStandby = async (name: string) => {
    await admin.query(`ALTER SYSTEM SET synchronous_standby_names = '${name}'`);
    await admin.query('SELECT pg_reload_conf()');
    await until(async () => (await commitWaits()) === (name !== ''));
  };
  return {
    async makeDatabase(): Promise<string> {
      const own = new URL(url);
      own.pathname = `test_${randomUUID().replaceAll('-', '')}`;
      await admin.query(`CREATE DATABASE ${own.pathname.slice(1)}`);
      await migrateStores(own.href);
      return own.href;
    },
    /** Until it is disposed of at the latest: nothing can be committed without it. */
    async loseStandby(): Promise<AsyncDisposable> {
      await setStandby('nobody');
      return { [Symbol.asyncDispose]: () => setStandby('') };
    },
    regainStandby: () => setStandby(''),
    /** The backends that wait for a standby. */
    async countWaiting(): Promise<number> {
      const { rows } = await admin.query("SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep'");
      return rows.length;
    },
    /** Ends each wait of the door's commits, also when it tries again, until a delivery is answered. */
    async endWaiting(end: Ending, answer: Promise<number>): Promise<number> {
      let answered = false;
      let ended = 0;
      const status = answer.finally(() => {
        answered = true;
      });
      await until(async () => {
        ended += await endWaiting(admin, end, 'gatehouse inbox');
        return answered;
      });
      return ended > 0 ? status : Promise.reject(new Error('no commit waited for the standby'));
    },
    async close() {
      await writer.end();
      await admin.end();
      await stores.close();
    },
  };
}
