import { migrateStores } from '../../src/composition/migrate-stores.ts';
import { detectPooling } from '../../src/db/pooler.ts';
import { makeDatabase } from '../helpers/database.ts';
import { unavailable } from '../helpers/docker.ts';
import { askDoctor } from '../helpers/doctor.ts';
import { PGBOUNCER_IMAGE, type PoolMode, startPgBouncer } from '../helpers/pgbouncer.ts';
import { gatehouse } from '../helpers/process.ts';
import ava from '../helpers/test.ts';

// A test of every change waits for no download.
const lacking = await unavailable([PGBOUNCER_IMAGE], { pulls: false });
if (lacking !== undefined) {
  process.stderr.write(`the tests with a real PgBouncer are left out, because ${lacking}\n`);
}
const test = lacking === undefined ? ava.serial : ava.skip;

/** A real PgBouncer before a database with the schema. */
async function openPgBouncer(mode: PoolMode) {
  const database = await makeDatabase();
  await migrateStores(database.url);
  const pooler = await startPgBouncer(database.url, mode);
  return {
    url: pooler.url,
    async [Symbol.asyncDispose]() {
      await pooler[Symbol.asyncDispose]();
      await database.drop();
    },
  };
}

const environment = (databaseUrl: string) => ({
  DATABASE_URL: databaseUrl,
  REDIS_URL: 'redis://127.0.0.1:9',
  WEBHOOK_SECRET: 'long enough for a test',
  PORT: '0',
  METRICS_PORT: '0',
  HOST: '127.0.0.1',
});

ava('a direct connection is not taken for a pooler', async (t) => {
  const database = await makeDatabase();
  t.is(await detectPooling(database.url), 'none');
  await database.drop();
});

for (const mode of ['transaction', 'statement'] as const) {
  test(`PgBouncer in ${mode} mode is refused by name: serve, migrate, doctor`, async (t) => {
    await using pooler = await openPgBouncer(mode);
    t.is(await detectPooling(pooler.url), 'transactions');
    for (const command of ['serve', 'migrate']) {
      const { code, stdout } = await gatehouse([command], environment(pooler.url)).ended();
      t.is(code, 78, stdout);
      t.regex(stdout, /connection pooler in transaction or statement mode/);
    }
    const findings = (await askDoctor([], environment(pooler.url))).of('database').join();
    t.regex(findings, /^✘ DATABASE_URL leads to a connection pooler in .* mode → use its session mode/);
  });
}

test('PgBouncer in session mode needs no settings of its own, and serves', async (t) => {
  await using pooler = await openPgBouncer('session');
  t.is(await detectPooling(pooler.url), 'sessions');
  t.is((await gatehouse(['migrate'], { DATABASE_URL: pooler.url }).ended()).code, 0);
  const findings = (await askDoctor([], environment(pooler.url))).of('database').join();
  t.regex(findings, /^✔ PostgreSQL .*, behind a connection pooler in session mode$/);
});
