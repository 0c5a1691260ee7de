import { spawn } from 'node:child_process';
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
// The discard port: no engine there.
const NOBODY = 'tcp://127.0.0.1:9';

/** The stores of this file, which no other file's tests see being mistreated. Hence one test after the other. */
let stores: Stores;
test.before(async () => {
  stores = await startStores();
});
test.after.always(() => stores?.close());

/** Neither client connects again, so that a test sees what happens to one connection. */
async function openClient(t: ExecutionContext, url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  // The tests end sessions from the other side.
  client.on('error', () => {});
  await client.connect();
  t.teardown(() => client.end());
  return client;
}

async function openRedis(t: ExecutionContext, url: string): Promise<Redis> {
  const redis = new Redis(url, { lazyConnect: true, retryStrategy: () => null, maxRetriesPerRequest: 0 });
  redis.on('error', () => {});
  t.teardown(() => redis.disconnect());
  await redis.connect();
  return redis;
}

interface Connection {
  readonly ended: Promise<void>;
  ask(): Promise<unknown>;
  keep(): Promise<unknown>;
  /** What `keep` stored, as far as it is still there. */
  kept(): Promise<unknown>;
}

/** Not `once`, which an 'error' beforehand would reject. */
const endOf = (client: pg.Client | Redis) => new Promise<void>((resolve) => client.once('end', () => resolve()));

const OPEN = {
  async database(t: ExecutionContext): Promise<Connection> {
    const client = await openClient(t, stores.database.url);
    return {
      ended: endOf(client),
      ask: () => client.query('SELECT 1'),
      async keep() {
        await client.query('CREATE TABLE kept AS SELECT 42 AS answer');
        await client.query('BEGIN; DELETE FROM kept');
      },
      kept: async () => (await client.query('SELECT answer FROM kept')).rows[0]?.answer,
    };
  },
  async redis(t: ExecutionContext): Promise<Connection> {
    const redis = await openRedis(t, stores.redis.url);
    return {
      ended: endOf(redis),
      ask: () => redis.ping(),
      keep: () => redis.set('kept', 42),
      kept: () => redis.get('kept'),
    };
  },
};

async function dial({ url }: Pick<Store, 'url'>): Promise<void> {
  const { port, hostname } = new URL(url);
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

for (const name of ['database', 'redis'] as const) {
  test.serial(`a paused ${name} hangs for old and new connections until it is resumed`, async (t) => {
    const client = await OPEN[name](t);
    await stores[name].pause();
    await dial(stores[name]);
    const answer = client.ask();
    const newcomer = OPEN[name](t);
    t.is(await Promise.race([answer, newcomer, sleep(A_WHILE_MS, 'silence')]), 'silence');
    await stores[name].resume();
    await answer;
    await t.notThrowsAsync((await newcomer).ask());
  });

  test.serial(`a ${name} that is killed refuses, and comes back on its port with what was committed`, async (t) => {
    const client = await OPEN[name](t);
    await client.keep();
    await stores[name].kill();
    await client.ended;
    await refuses(t, stores[name]);
    await stores[name].start();
    t.is(await (await OPEN[name](t)).kept(), name === 'database' ? 42 : null);
  });
}

test.serial('stores can be stopped and closed in any state, and more than once', async (t) => {
  const other = await startStores({ kind: stores.kind });
  await other.database.pause();
  await other.database.stop();
  await refuses(t, other.database);
  await other.database.start();
  await other.database.pause();
  await other.redis.kill();
  await other.close();
  await other.close();
  await refuses(t, other.database);
  await refuses(t, other.redis);
});

test.serial('stores end with their process, also when it is killed', async (t) => {
  for (const ending of ['killed', 'ends']) {
    const { child, ready } = startOwner(ending === 'ends');
    const exited = once(child, 'exit');
    const urls = await inTime('the stores are ready', ready);
    if (ending === 'killed') {
      child.kill('SIGKILL');
    }
    await exited;
    for (const url of urls) {
      await eventually(`${url} refuses connections`, () =>
        dial({ url }).then(
          () => false,
          () => true,
        ),
      );
    }
    t.pass();
  }
});

test('embedded stores keep their data in a given folder, which only one can have', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-test-'));
  // As root, PostgreSQL runs as a lesser user, who has to get through.
  await chmod(folder, 0o711);
  t.teardown(() => rm(folder, { recursive: true }));
  const dataDir = join(folder, 'kept');
  const lines: string[] = [];
  const first = await startEmbeddedStores({ dataDir, log: (line) => lines.push(line) });
  const client = await openClient(t, first.database.url);
  await client.query('CREATE TABLE kept AS SELECT 42 AS answer');
  await t.throwsAsync(startEmbeddedStores({ dataDir }), { message: /lock file "postmaster.pid" already exists/ });
  await first.close();
  t.true(lines.some((line) => line.includes('ready to accept connections')));

  const second = await startEmbeddedStores({ dataDir });
  const again = await openClient(t, second.database.url);
  t.deepEqual((await again.query('SELECT answer FROM kept')).rows, [{ answer: 42 }]);
  await second.close();
  t.deepEqual((await readdir(dataDir)).sort(), ['postgres', 'postgres.password']);
});

for (const [kind, outcome, said] of [
  ['containers', 'an error', /containers were asked for, but no container engine answered/],
  ['', 'embedded stores', /^stores: embedded PostgreSQL 18 and Valkey \(no container engine answered\)\n$/],
  ['floppy', 'an error', /TEST_STORES is "floppy"; it must be "containers" or "embedded", or unset/],
] as const) {
  test(`without a container engine TEST_STORES="${kind}" gives ${outcome}, and says why`, async (t) => {
    const { child } = startOwner(true, { TEST_STORES: kind, DOCKER_HOST: NOBODY });
    let stderr = '';
    child.stderr.on('data', (piece) => {
      stderr += piece;
    });
    // 'close' comes once nobody holds stderr any more, the stores' process included.
    const [code] = await inTime('the process and its stores end', once(child, 'close'));
    t.is(code, outcome === 'an error' ? 1 : 0);
    t.regex(stderr, said);
  });
}

/** A process that starts stores, prints their URLs, and ends or waits. */
function startOwner(ends: boolean, environment: NodeJS.ProcessEnv = {}) {
  const script = `
    const { startStores } = await import(${JSON.stringify(new URL('../helpers/stores.ts', import.meta.url))});
    const { database, redis } = await startStores();
    console.log(JSON.stringify([database.url, redis.url]));
    if (!${ends}) setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    env: { ...process.env, TEST_DATABASE_URL: undefined, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ready = once(createInterface({ input: child.stdout }), 'line').then(([line]): string[] => JSON.parse(line));
  ready.catch(() => {});
  return { child, ready };
}
