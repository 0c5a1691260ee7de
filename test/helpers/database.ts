import { randomBytes } from 'node:crypto';
import type { ExecutionContext } from 'ava';
import pg from 'pg';
import { migrateStores } from '../../src/composition/migrate-stores.ts';
import { type Stores, startStores } from './stores.ts';

const CONNECT_MS = 10_000;

/** A database of a test's own. Drop it, or leave that to the end of the run. */
export interface Database {
  readonly url: string;
  drop(): Promise<void>;
}

// Only where a test file runs without the test runner: its own stores, started when first asked for. They end with it.
let own: Promise<Stores> | undefined;
function ownStores(): Promise<Stores> {
  own ??= startStores({ inMemory: true });
  return own;
}

/** The Redis that all tests share: keys and channels need unique names. */
export async function sharedRedisUrl(): Promise<string> {
  return process.env['TEST_REDIS_URL'] ?? (await ownStores()).redis.url;
}

async function sharedDatabaseUrl(): Promise<string> {
  return process.env['TEST_DATABASE_URL'] ?? (await ownStores()).database.url;
}

/** The connections to this database alone: all tests share a server. The rest of a query. */
export const WAITING_FOR_A_LOCK =
  "FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";

/** What a migration that older code cannot work with does. */
export const setOldestReader = (version: number) =>
  `CREATE OR REPLACE FUNCTION gatehouse.oldest_reader() RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT ${version}'`;

/** A new, empty database on the PostgreSQL that all tests share. */
export async function makeDatabase(): Promise<Database> {
  return createDatabase(await sharedDatabaseUrl(), EMPTY);
}

/** A new database that `gatehouse migrate` has prepared: a copy of one, as every migration takes a quarter of a second. */
export async function makeMigratedDatabase(): Promise<Database> {
  const adminUrl = await sharedDatabaseUrl();
  migrated ??= makeTemplate(adminUrl);
  await migrated;
  return createDatabase(adminUrl, MIGRATED);
}

/** The same with connections to it, until the end of the test. */
export async function openMigratedDatabase(t: ExecutionContext): Promise<pg.Pool> {
  return (await makeOpenDatabase(t)).pool;
}

/** The same where the address is of use, too. */
export async function makeOpenDatabase(t: ExecutionContext): Promise<{ readonly url: string; readonly pool: pg.Pool }> {
  const { url, drop } = await makeMigratedDatabase();
  const pool = openPool(url);
  t.teardown(async () => {
    await pool.end();
    await drop();
  });
  return { url, pool };
}

const EMPTY = 'template1';
const MIGRATED = 'migrated';
const UNFINISHED = 'migrated_unfinished';
/** Of an advisory lock, which nothing else takes on the stores' first database. */
const TEMPLATE_LOCK = 1;
let migrated: Promise<void> | undefined;

async function createDatabase(adminUrl: string, template: string): Promise<Database> {
  const name = `test_${randomBytes(8).toString('hex')}`;
  await administer(adminUrl, (client) => client.query(`CREATE DATABASE ${name} TEMPLATE ${template}`));
  return {
    url: urlOf(adminUrl, name),
    // FORCE, for a pool that a failing test left open must not keep the database alive.
    drop: () => administer(adminUrl, (client) => client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)),
  };
}

/** Once for all test files, whichever needs it first. It gets its name at the end only, since a migration may fail. */
async function makeTemplate(adminUrl: string): Promise<void> {
  await administer(adminUrl, async (client) => {
    await client.query('SELECT pg_advisory_lock($1)', [TEMPLATE_LOCK]);
    const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [MIGRATED]);
    if (rowCount !== 0) {
      return;
    }
    await client.query(`DROP DATABASE IF EXISTS ${UNFINISHED} WITH (FORCE)`);
    await client.query(`CREATE DATABASE ${UNFINISHED}`);
    await migrateStores(urlOf(adminUrl, UNFINISHED));
    await client.query(`ALTER DATABASE ${UNFINISHED} RENAME TO ${MIGRATED}`);
  });
}

function urlOf(adminUrl: string, name: string): string {
  const url = new URL(adminUrl);
  url.pathname = name;
  return url.href;
}

/** A pool for checks from outside. A store that stops, on purpose or with its test, is no error. */
export function openPool(url: string, max = 2): pg.Pool {
  const pool = new pg.Pool({ connectionString: url, max });
  pool.on('error', () => {
    // The next query says it.
  });
  return pool;
}

async function administer(url: string, act: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: CONNECT_MS });
  await client.connect();
  try {
    await act(client);
  } finally {
    await client.end();
  }
}
