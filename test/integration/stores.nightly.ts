import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ExecutionContext } from 'ava';
import { Redis } from 'ioredis';
import pg from 'pg';
import { inTime } from '../helpers/deadline.ts';
import { type Store, type Stores, startEmbeddedStores, startStores } from '../helpers/stores.ts';
import test from '../helpers/test.ts';
import { eventually } from '../helpers/until.ts';

// Long enough for any answer to arrive: a slow machine can only make these tests too kind.
const A_WHILE_MS = 500;

/** The stores of this file, which no other file's tests see being mistreated. Hence one test after the other. */
let stores: Stores;
test.before(async () => {
  stores = await startStores();
});
test.after.always(() => stores?.close());

async function openClient(t: ExecutionContext, url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  // The tests end sessions from the other side.
  client.on('error', () => {});
  await client.connect();
  t.teardown(() => client.end());
  return client;
}

/** A client that never reconnects, so that a test sees what happens to one connection. */
async function openRedis(t: ExecutionContext, url: string): Promise<Redis> {
  const redis = new Redis(url, { lazyConnect: true, retryStrategy: () => null, maxRetriesPerRequest: 0 });
  redis.on('error', () => {});
  t.teardown(() => redis.disconnect());
  await redis.connect();
  return redis;
}

/** Not `once`, which an 'error' beforehand would reject. */
function ended(client: pg.Client | Redis): Promise<void> {
  return new Promise((resolve) => client.once('end', () => resolve()));
}

async function dial(store: Store): Promise<void> {
  const { port, hostname } = new URL(store.url);
  const socket = connect(Number(port), hostname);
  try {
    await once(socket, 'connect');
  } finally {
    socket.destroy();
  }
}

function refuses(t: ExecutionContext, store: Store) {
  return t.throwsAsync(dial(store), { code: 'ECONNREFUSED' });
}

async function isSilent(t: ExecutionContext, answer: Promise<unknown>): Promise<void> {
  t.is(await Promise.race([answer, sleep(A_WHILE_MS, 'silence')]), 'silence');
}

test.serial('a paused database hangs for old and new connections until it is resumed', async (t) => {
  const client = await openClient(t, stores.database.url);
  await stores.database.pause();
  await dial(stores.database);
  const answer = client.query('SELECT 1 AS one');
  const newcomer = openClient(t, stores.database.url);
  await isSilent(t, Promise.race([answer, newcomer]));
  await stores.database.resume();
  t.deepEqual((await answer).rows, [{ one: 1 }]);
  t.deepEqual((await (await newcomer).query('SELECT 2 AS two')).rows, [{ two: 2 }]);
});

test.serial('a paused Redis hangs for old and new connections until it is resumed', async (t) => {
  const redis = await openRedis(t, stores.redis.url);
  await stores.redis.pause();
  await dial(stores.redis);
  const answer = redis.ping();
  const newcomer = openRedis(t, stores.redis.url);
  await isSilent(t, Promise.race([answer, newcomer]));
  await stores.redis.resume();
  t.is(await answer, 'PONG');
  t.is(await (await newcomer).ping(), 'PONG');
});

test.serial('a stopped database disconnects, refuses, and restarts with its port and data', async (t) => {
  const client = await openClient(t, stores.database.url);
  await client.query('CREATE TABLE kept AS SELECT 42 AS answer');
  const dismissed = ended(client);
  await stores.database.stop();
  await dismissed;
  await refuses(t, stores.database);
  await stores.database.start();
  const again = await openClient(t, stores.database.url);
  t.deepEqual((await again.query('SELECT answer FROM kept')).rows, [{ answer: 42 }]);
});

test.serial('a stopped Redis refuses and comes back on the same port', async (t) => {
  const redis = await openRedis(t, stores.redis.url);
  const dismissed = ended(redis);
  await stores.redis.stop();
  await dismissed;
  await refuses(t, stores.redis);
  await stores.redis.start();
  t.is(await (await openRedis(t, stores.redis.url)).ping(), 'PONG');
});

test.serial('a killed database loses nothing that was committed', async (t) => {
  const client = await openClient(t, stores.database.url);
  await client.query('CREATE TABLE survivors (id int)');
  await client.query('INSERT INTO survivors VALUES (7)');
  await client.query('BEGIN');
  await client.query('INSERT INTO survivors VALUES (8)');
  const cut = ended(client);
  await stores.database.kill();
  await cut;
  await refuses(t, stores.database);
  await stores.database.start();
  const again = await openClient(t, stores.database.url);
  t.deepEqual((await again.query('SELECT id FROM survivors')).rows, [{ id: 7 }]);
});

test.serial('a killed Redis refuses and comes back empty on the same port', async (t) => {
  const redis = await openRedis(t, stores.redis.url);
  await redis.set('key', 'value');
  const cut = ended(redis);
  await stores.redis.kill();
  await cut;
  await refuses(t, stores.redis);
  await stores.redis.start();
  t.is(await (await openRedis(t, stores.redis.url)).get('key'), null);
});

test.serial('stores that are paused can be stopped and killed', async (t) => {
  for (const store of [stores.database, stores.redis]) {
    await store.pause();
    await store.stop();
    await refuses(t, store);
    await store.start();
    await store.pause();
    await store.kill();
    await refuses(t, store);
    await store.start();
    await t.notThrowsAsync(dial(store));
  }
});

test.serial('starting what runs and stopping what is stopped changes nothing', async (t) => {
  for (const store of [stores.database, stores.redis]) {
    await store.start();
    await dial(store);
    await store.stop();
    await store.stop();
    await store.kill();
    await refuses(t, store);
    await store.start();
  }
});

test.serial('what cannot be done is refused with the reason', async (t) => {
  await stores.redis.stop();
  await t.throwsAsync(stores.redis.pause(), { message: /^cannot pause the redis: .*is not running/ });
  await stores.redis.start();
});

test.serial('stores can be closed in any state, and more than once', async (t) => {
  const other = await startStores({ kind: stores.kind });
  await other.database.pause();
  await other.redis.kill();
  await other.close();
  await other.close();
  await refuses(t, other.database);
  await refuses(t, other.redis);
});

test.serial('stores end with their process, also when it is killed', async (t) => {
  for (const ending of ['killed', 'ends']) {
    const owner = startOwner(ending === 'ends');
    const exited = once(owner.process, 'exit');
    const { databaseUrl, redisUrl } = await inTime('the stores are ready', owner.ready);
    if (ending === 'killed') {
      owner.process.kill('SIGKILL');
    }
    await exited;
    await untilRefused(databaseUrl);
    await untilRefused(redisUrl);
    t.pass();
  }
});

test('embedded stores keep their data in a given folder, and remove the rest', async (t) => {
  const dataDir = join(await newFolder(t), 'kept');
  const lines: string[] = [];
  const first = await startEmbeddedStores({ dataDir, log: (line) => lines.push(line) });
  const client = await openClient(t, first.database.url);
  await client.query('CREATE TABLE kept AS SELECT 42 AS answer');
  await first.close();
  t.true(lines.some((line) => line.includes('ready to accept connections')));

  const second = await startEmbeddedStores({ dataDir });
  const again = await openClient(t, second.database.url);
  t.deepEqual((await again.query('SELECT answer FROM kept')).rows, [{ answer: 42 }]);
  await second.close();
  t.deepEqual((await readdir(dataDir)).sort(), ['postgres', 'postgres.password']);
});

test('embedded stores that cannot start say why', async (t) => {
  const dataDir = join(await newFolder(t), 'kept');
  const first = await startEmbeddedStores({ dataDir });
  await t.throwsAsync(startEmbeddedStores({ dataDir }), { message: /lock file "postmaster.pid" already exists/ });
  await first.close();
});

test('required containers that cannot start are an error with the reason', async (t) => {
  const { code, stderr } = await startElsewhere({ TEST_STORES: 'containers', DOCKER_HOST: NOBODY });
  t.not(code, 0);
  t.regex(stderr, /containers were asked for, but no container engine answered/);
});

test('without a container engine the stores are embedded, and one line says so', async (t) => {
  const { code, stderr } = await startElsewhere({ TEST_STORES: '', DOCKER_HOST: NOBODY });
  t.is(code, 0);
  t.is(stderr, 'stores: embedded PostgreSQL 18 and Valkey (no container engine answered)\n');
});

test('an unknown kind of stores is an error', async (t) => {
  const { code, stderr } = await startElsewhere({ TEST_STORES: 'floppy' });
  t.not(code, 0);
  t.regex(stderr, /TEST_STORES is "floppy"; it must be "containers" or "embedded", or unset/);
});

async function newFolder(t: ExecutionContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-test-'));
  // As root, PostgreSQL runs as a lesser user, who has to get through.
  await chmod(folder, 0o711);
  t.teardown(() => rm(folder, { recursive: true }));
  return folder;
}

// The discard port: no engine there.
const NOBODY = 'tcp://127.0.0.1:9';

/** A process that starts stores, prints their URLs, and ends or waits. */
function startOwner(ends: boolean, environment: NodeJS.ProcessEnv = {}) {
  const script = `
    const { startStores } = await import(${JSON.stringify(new URL('../helpers/stores.ts', import.meta.url))});
    const { database, redis } = await startStores();
    console.log(JSON.stringify({ databaseUrl: database.url, redisUrl: redis.url }));
    if (!${ends}) setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    env: { ...process.env, TEST_DATABASE_URL: undefined, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ready = once(createInterface({ input: child.stdout }), 'line').then(
    ([line]): { databaseUrl: string; redisUrl: string } => JSON.parse(line),
  );
  return { process: child, ready };
}

async function startElsewhere(environment: NodeJS.ProcessEnv): Promise<{ code: number; stderr: string }> {
  const owner: { process: ChildProcess } = startOwner(true, environment);
  let stderr = '';
  owner.process.stderr?.on('data', (piece) => {
    stderr += piece;
  });
  // 'close' comes once nobody holds stderr any more, the stores' process included.
  const [code] = await inTime('the process and its stores end', once(owner.process, 'close'));
  return { code, stderr };
}

async function untilRefused(url: string): Promise<void> {
  const { port, hostname } = new URL(url);
  await eventually(`${port} refuses connections`, async () => {
    const socket = connect(Number(port), hostname);
    try {
      await once(socket, 'connect');
      return false;
    } catch {
      return true;
    } finally {
      socket.destroy();
    }
  });
}
