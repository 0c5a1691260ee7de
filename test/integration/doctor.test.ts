import { SCHEMA_VERSION } from '../../src/db/schema.ts';
import { makeOpenDatabase, setOldestReader, sharedRedisUrl } from '../helpers/database.ts';
import { askDoctor } from '../helpers/doctor.ts';
import { SECRET } from '../helpers/door.ts';
import nightly from '../helpers/nightly.ts';
import { gatehouse } from '../helpers/process.ts';
import { startProxy } from '../helpers/proxy.ts';
import ava from '../helpers/test.ts';

const test = ava;

/** Of a door: it has no credentials for the forge. */
const DOOR = { FORGE: 'gitea', WEBHOOK_SECRET: SECRET };
const NOWHERE = 'postgres://user:sesame@127.0.0.1:1/gatehouse';

test('doctor names each fault of the configuration, and checks what it can', async (t) => {
  const said = await askDoctor([], { FORGE: 'gitea', PORT: 'eighty', REDIS_URL: await sharedRedisUrl() });
  t.is(said.code, 1);
  t.deepEqual(said.of('configuration'), [
    '✘ PORT: must be a port number, 0 to 65535 → correct the variable',
    '✘ DATABASE_URL: is required → correct the variable',
    '✘ WEBHOOK_SECRET: is required → correct the variable',
    '✘ FORGE_URL: is required when FORGE is gitea → correct the variable',
    '✘ FORGE_TOKEN: is required → correct the variable',
  ]);
  t.deepEqual(said.of('database schema'), ['? skipped: no DATABASE_URL']);
  t.regex(said.of('redis')[0] ?? '', /^✔ answers/);
  t.deepEqual(said.of('forge'), ['? skipped: the configuration has faults']);
});

test('doctor needs no credentials where the configuration is that of a door', async (t) => {
  const { url } = await makeOpenDatabase(t);
  const said = await askDoctor([], { ...DOOR, DATABASE_URL: url, REDIS_URL: await sharedRedisUrl() });
  t.is(said.code, 0, said.text);
  t.deepEqual(said.of('configuration'), ['✔ valid for the door']);
  t.deepEqual(said.of('forge'), ['? skipped: no credentials here: run it where a worker runs']);
  t.deepEqual(said.of('database schema'), [`✔ version ${SCHEMA_VERSION}, with its job queues`]);
});

test('doctor reads POLICY_FILE, and names each of its faults', async (t) => {
  const stores = { DATABASE_URL: NOWHERE, REDIS_URL: 'redis://127.0.0.1:1' };
  const worker = { FORGE: 'gitea', FORGE_URL: 'http://127.0.0.1:1', FORGE_TOKEN: 'any', ...stores };
  for (const [file, said] of [
    ['package.json', /^✘ package\.json:\d+:\d+: .* workers do not start with a faulty policy$/],
    ['/no/such/file', /^✘ POLICY_FILE: cannot read \/no\/such\/file \(ENOENT\)/],
  ] as const) {
    const { code, of } = await askDoctor([], { ...worker, POLICY_FILE: file });
    t.is(code, 1);
    t.regex(of('policy file')[0] ?? '', said);
  }
});

test('doctor finds a schema that is old, or absent, or newer, or lacks a column', async (t) => {
  const { url, pool } = await makeOpenDatabase(t);
  const schema = async () => (await askDoctor([], { ...DOOR, DATABASE_URL: url })).of('database schema').join();
  await pool.query('UPDATE gatehouse_jobs.version SET version = version - 1');
  t.regex(
    await schema(),
    /^✘ the job engine cannot use its schema, and takes no jobs: it is version 42, not 43; run gatehouse migrate of/,
  );
  await pool.query('UPDATE gatehouse_jobs.version SET version = version + 1');
  await pool.query('ALTER TABLE gatehouse.reviews RENAME COLUMN rules TO gone');
  t.regex(await schema(), /^✘ the schema lacks gatehouse\.reviews\.rules: .* → run the build that made it, or restore/);
  await pool.query('ALTER TABLE gatehouse.reviews RENAME COLUMN gone TO rules');
  await pool.query(setOldestReader(10_000));
  t.regex(await schema(), /^✘ it is newer than this version can use/);
  await pool.query(setOldestReader(1));
  await pool.query('DELETE FROM gatehouse.migrations WHERE name = (SELECT max(name) FROM gatehouse.migrations)');
  t.regex(await schema(), /^✘ it is older than version \d+, or missing → run this version’s gatehouse migrate/);
  await pool.query('DROP SCHEMA gatehouse CASCADE');
  t.regex(await schema(), /^✘ it is older than version \d+, or missing → run this version’s gatehouse migrate/);
});

test('doctor finds a database that is read-only', async (t) => {
  const { url, pool } = await makeOpenDatabase(t);
  await pool.query(`ALTER DATABASE ${new URL(url).pathname.slice(1)} SET default_transaction_read_only = on`);
  const said = await askDoctor([], { ...DOOR, DATABASE_URL: url });
  t.regex(said.of('database rights').join(), /^✘ the database is read-only → connect to the primary/);
});

test('doctor finds a database and a Redis that are not there', async (t) => {
  const said = await askDoctor([], { ...DOOR, DATABASE_URL: NOWHERE, REDIS_URL: 'redis://:sesame@127.0.0.1:1' });
  t.is(said.code, 1);
  t.regex(said.of('database')[0] ?? '', /^✘ .*ECONNREFUSED.* → check DATABASE_URL/);
  t.regex(said.of('redis')[0] ?? '', /^✘ .*ECONNREFUSED.* → check REDIS_URL/);
  for (const check of ['database schema', 'database rights']) {
    t.deepEqual(said.of(check), ['? skipped: no database']);
  }
  t.false(said.text.includes('sesame'));
});

nightly('doctor gives up stores that hang, checks the others, and ends', async (t) => {
  const { url } = await makeOpenDatabase(t);
  const redisUrl = await sharedRedisUrl();
  const database = await startProxy(url);
  const redis = await startProxy(redisUrl);
  try {
    await Promise.all([database.hang(), redis.hang()]);
    const ask = async (hanging: Readonly<Record<string, string>>) => {
      const env = { ...DOOR, DATABASE_URL: url, REDIS_URL: redisUrl, ...hanging };
      const { code, stdout, stderr } = await gatehouse(['doctor', '--json'], env).ended();
      t.is(code, 1, stderr);
      const { checks }: { checks: { check: string; result: string }[] } = JSON.parse(stdout);
      return Object.fromEntries(checks.map(({ check, result }) => [check, result]));
    };
    const [noDatabase, noRedis] = await Promise.all([
      ask({ DATABASE_URL: database.url }),
      ask({ REDIS_URL: redis.url }),
    ]);
    t.like(noDatabase, { database: 'wrong', 'database rights': 'skipped', redis: 'ok' });
    t.like(noRedis, { redis: 'wrong', 'database schema': 'ok' });
  } finally {
    await database.close();
    await redis.close();
  }
});
