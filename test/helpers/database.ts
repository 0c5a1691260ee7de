import { randomBytes } from 'node:crypto';
import pg from 'pg';
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
  own ??= startStores();
  return own;
}

/** The Redis that all tests share: keys and channels need unique names. */
export async function sharedRedisUrl(): Promise<string> {
  return process.env['TEST_REDIS_URL'] ?? (await ownStores()).redis.url;
}

/** A new, empty database on the PostgreSQL that all tests share. */
export async function makeDatabase(): Promise<Database> {
  const adminUrl = process.env['TEST_DATABASE_URL'] ?? (await ownStores()).database.url;
  const name = `test_${randomBytes(8).toString('hex')}`;
  await administer(adminUrl, `CREATE DATABASE ${name}`);
  const url = new URL(adminUrl);
  url.pathname = name;
  return {
    url: url.href,
    // FORCE, for a pool that a failing test left open must not keep the database alive.
    drop: () => administer(adminUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
  };
}

/** A pool for checks from outside. A store that stops, on purpose or with its test, is no error. */
export function openPool(url: string): pg.Pool {
  const pool = new pg.Pool({ connectionString: url, max: 2 });
  pool.on('error', () => {
    // The next query says it.
  });
  return pool;
}

async function administer(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: CONNECT_MS });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
