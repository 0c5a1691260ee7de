import { Redis } from 'ioredis';
import pg from 'pg';
import { makeDatabase, openPool, sharedRedisUrl } from '../helpers/database.ts';
import { startStores } from '../helpers/stores.ts';
import test from '../helpers/test.ts';

test('every database is new, empty and apart from the others', async (t) => {
  const [one, other] = await Promise.all([makeDatabase(), makeDatabase()]);
  t.not(one.url, other.url);
  const pool = openPool(one.url);
  await pool.query('CREATE TABLE only_here ()');
  await pool.end();
  const client = new pg.Client({ connectionString: other.url });
  await client.connect();
  const { rows } = await client.query("SELECT to_regclass('only_here') AS found");
  t.is(rows[0].found, null);
  await client.end();
  await Promise.all([one.drop(), other.drop()]);
});

test('a dropped database is gone, though somebody is still connected', async (t) => {
  const database = await makeDatabase();
  const client = new pg.Client({ connectionString: database.url });
  client.on('error', () => {});
  const dismissed = new Promise<void>((resolve) => client.once('end', () => resolve()));
  await client.connect();
  await database.drop();
  await dismissed;
  const late = new pg.Client({ connectionString: database.url });
  // PostgreSQL's invalid_catalog_name.
  await t.throwsAsync(late.connect(), { code: '3D000' });
});

test('stores of a test’s own have a commit on disk before it is acknowledged', async (t) => {
  const stores = await startStores();
  t.teardown(() => stores.close());
  const pool = openPool(stores.database.url);
  const { rows } = await pool.query(
    "SELECT name, setting FROM pg_settings WHERE name IN ('fsync', 'synchronous_commit') ORDER BY name",
  );
  await pool.end();
  t.deepEqual(rows, [
    { name: 'fsync', setting: 'on' },
    { name: 'synchronous_commit', setting: 'on' },
  ]);
});

test('the shared Redis answers', async (t) => {
  const redis = new Redis(await sharedRedisUrl());
  t.teardown(() => redis.disconnect());
  t.is(await redis.ping(), 'PONG');
});
