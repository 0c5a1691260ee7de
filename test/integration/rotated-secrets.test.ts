import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import { Redis } from 'ioredis';
import { type Config, parseConfig } from '../../src/config/config.ts';
import { makePool } from '../../src/db/pool.ts';
import { closeRedis, makeRedis } from '../../src/db/redis.ts';
import { makeLog } from '../../src/log.ts';
import { makeMigratedDatabase, openPool, sharedRedisUrl } from '../helpers/database.ts';
import test from '../helpers/test.ts';
import { until } from '../helpers/until.ts';

const OLD = 'the old password';
const NEW = 'another, with / and @';

/** The configuration of a door whose stores are given as files, and what writes them. */
async function givenAsFiles(t: ExecutionContext, databaseUrl: string, redisUrl: string) {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-'));
  t.teardown(() => rm(folder, { recursive: true }));
  const paths = { DATABASE_URL: join(folder, 'database-url'), REDIS_URL: join(folder, 'redis-url') };
  await writeFile(paths.DATABASE_URL, `${databaseUrl}\n`);
  await writeFile(paths.REDIS_URL, `${redisUrl}\n`);
  const env = {
    DATABASE_URL_FILE: paths.DATABASE_URL,
    REDIS_URL_FILE: paths.REDIS_URL,
    WEBHOOK_SECRET: 'a secret of the tests',
  };
  const parsed = parseConfig(env, { door: true, worker: false });
  if (!parsed.ok) {
    throw new Error(parsed.faults.join());
  }
  const config: Config = parsed.config;
  return { config, write: (name: keyof typeof paths, url: string) => writeFile(paths[name], url) };
}

function withCredentials(url: string, username: string, password: string): string {
  const other = new URL(url);
  other.username = username;
  other.password = encodeURIComponent(password);
  return other.href;
}

test('a rotated password of the database is used by the next connection', async (t) => {
  const database = await makeMigratedDatabase();
  const admin = openPool(database.url);
  const role = `rotated_${randomUUID().replaceAll('-', '')}`;
  await admin.query(`CREATE ROLE ${role} LOGIN PASSWORD '${OLD}'`);
  const { config, write } = await givenAsFiles(t, withCredentials(database.url, role, OLD), 'redis://127.0.0.1:1');
  const pool = makePool(config.databaseUrl, makeLog('silent'));
  try {
    await pool.query('SELECT 1');
    await admin.query(`ALTER ROLE ${role} PASSWORD '${NEW}'`);
    const cut = () => admin.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1', [role]);
    await cut();
    await until(async () => {
      const error = await pool.query('SELECT 1').catch(({ code }: { code?: string }) => code);
      return error === '28P01';
    });
    // What is being written may be half there.
    await write('DATABASE_URL', 'postgres:');
    await t.throwsAsync(pool.query('SELECT 1'), { code: '28P01' });
    await write('DATABASE_URL', withCredentials(database.url, role, NEW));
    await t.notThrowsAsync(pool.query('SELECT 1'));
  } finally {
    await pool.end();
    await admin.query(`DROP ROLE ${role}`);
    await admin.end();
    await database.drop();
  }
});

test('a rotated password of Redis is used by the next connection', async (t) => {
  const shared = await sharedRedisUrl();
  const user = `rotated-${randomUUID()}`;
  const admin = new Redis(shared);
  const allow = (password: string) =>
    admin.call('ACL', 'SETUSER', user, 'reset', 'on', `>${password}`, '~*', '&*', '+@all');
  await allow(OLD);
  const { config, write } = await givenAsFiles(t, 'postgres://127.0.0.1:1/none', withCredentials(shared, user, OLD));
  const redis = makeRedis(config.redisUrl, makeLog('silent'));
  try {
    await until(() => redis.status === 'ready');
    t.is(await redis.call('ACL', 'WHOAMI'), user);
    await allow(NEW);
    const refused = new Promise((resolve) =>
      redis.on('error', ({ message }) => /WRONGPASS/.test(message) && resolve(true)),
    );
    await admin.call('CLIENT', 'KILL', 'USER', user);
    t.true(await refused);
    await write('REDIS_URL', withCredentials(shared, user, NEW));
    await until(async () => (await redis.call('ACL', 'WHOAMI').catch(() => undefined)) === user);
    t.pass();
  } finally {
    closeRedis(redis);
    await admin.call('ACL', 'DELUSER', user);
    admin.disconnect();
  }
});
