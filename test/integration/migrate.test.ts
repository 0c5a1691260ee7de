import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import type pg from 'pg';
import { migrateStores } from '../../src/composition/migrate-stores.ts';
import { createdBy, findLacking, makeLackingCheck } from '../../src/db/lacking.ts';
import { NewerSchemaError, SCHEMA_VERSION } from '../../src/db/schema.ts';
import { makeDatabase, makeMigratedDatabase, openPool } from '../helpers/database.ts';
import { gatehouse } from '../helpers/process.ts';
import { startProxy } from '../helpers/proxy.ts';
import { runGatehouse } from '../helpers/run-command.ts';
import ava from '../helpers/test.ts';
import { until } from '../helpers/until.ts';

const test = ava.serial;

const read = (name: string) => readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8');
const operations = `${read('operations.md')}\n${read('alerts.md')}`;

/** What the door and the worker need beside the database. Nothing answers there. */
const ENVIRONMENT = {
  REDIS_URL: 'redis://127.0.0.1:9',
  WEBHOOK_SECRET: 'long enough for a test',
  FORGE: 'gitea',
  FORGE_URL: 'http://127.0.0.1:9',
  FORGE_TOKEN: 'a-token',
  PORT: '0',
  METRICS_PORT: '0',
  HOST: '127.0.0.1',
};

type Work = (url: string, pool: pg.Pool) => Promise<void>;

async function withDatabase(work: Work, make = makeDatabase): Promise<void> {
  const database = await make();
  const pool = openPool(database.url);
  try {
    await work(database.url, pool);
  } finally {
    await pool.end();
    await database.drop();
  }
}

const withMigrated = (work: Work) => withDatabase(work, makeMigratedDatabase);

test('migrations are numbered without a gap, and the code knows the newest', (t) => {
  const names = readdirSync(new URL('../../src/db/migrations', import.meta.url)).sort();
  t.deepEqual(
    names.map((name) => Number.parseInt(name, 10)),
    Array.from({ length: SCHEMA_VERSION }, (_, index) => index + 1),
  );
});

test('the tables and columns that a process looks for are all that the migrations make', async (t) => {
  const folder = new URL('../../src/db/migrations/', import.meta.url);
  const sql = readdirSync(folder).map((name) => readFileSync(new URL(name, folder), 'utf8'));
  await withMigrated(async (_, pool) => {
    const { rows } = await pool.query<{ made: string[] }>(
      `SELECT array_agg(DISTINCT table_name::text) || array_agg(table_name || '.' || column_name) AS made
         FROM information_schema.columns
        WHERE table_schema = 'gatehouse' AND table_name <> 'migrations'
          AND NOT (SELECT relispartition FROM pg_class WHERE oid = format('gatehouse.%I', table_name)::regclass)`,
    );
    t.deepEqual(createdBy(sql.join('\n')).toSorted(), rows[0]?.made.toSorted());
    t.is(await findLacking(pool), undefined);
  });
});

test('a column that a later migration adds is looked for, too', (t) => {
  const first = 'CREATE TABLE gatehouse.one (\n  -- a comment\n  id text PRIMARY KEY,\n\n  UNIQUE (id)\n);\n';
  const second = 'ALTER TABLE gatehouse.one ADD COLUMN two_2 integer;\n';
  t.deepEqual(createdBy(first + second), ['one', 'one.id', 'one.two_2']);
});

for (const [change, lacking] of [
  ['ALTER TABLE gatehouse.reviews DROP COLUMN rules', 'reviews.rules'],
  ['DROP TABLE gatehouse.merges', 'merges'],
  ['ALTER TABLE gatehouse.reviews ADD COLUMN more text; CREATE TABLE gatehouse.more (id text)', undefined],
] as const) {
  test(`the first thing that a schema lacks is named: ${lacking ?? 'nothing, where it has more'}`, async (t) => {
    await withMigrated(async (_, pool) => {
      await pool.query(change);
      const said = `the schema lacks gatehouse.${lacking}: another build made it, or it was restored in part`;
      t.is(await findLacking(pool), lacking && said);
    });
  });
}

test('a process looks for what a schema lacks until that is nothing, and no more', async (t) => {
  await withMigrated(async (_, pool) => {
    const refuseLacking = makeLackingCheck();
    await pool.query('ALTER TABLE gatehouse.merges RENAME TO gone');
    await t.throwsAsync(refuseLacking(pool), { message: /lacks gatehouse\.merges:/ });
    await pool.query('ALTER TABLE gatehouse.gone RENAME TO merges');
    await refuseLacking(pool);
    await pool.query('DROP TABLE gatehouse.merges');
    await t.notThrowsAsync(refuseLacking(pool));
  });
});

test('migrating an empty database applies everything, and again applies nothing', async (t) => {
  await withDatabase(async (url, pool) => {
    const { code, stdout } = await gatehouse(['migrate'], { DATABASE_URL: url }).ended();
    t.is(code, 0);
    t.is(JSON.parse(stdout).applied.length, SCHEMA_VERSION);
    t.deepEqual(await migrateStores(url), []);
    const { rows } = await pool.query<{ name: string }>('SELECT name FROM gatehouse_jobs.queue ORDER BY name');
    const reviews = 'review review-commit review-dead-letters review-merge-group review-repository';
    t.is(rows.map(({ name }) => name).join(' '), `command default-push push resync retention ${reviews} turn`);
  });
});

test('queries in the documents name tables and columns that exist', async (t) => {
  const blocks = operations.matchAll(/^```sql\n((?:SELECT|DELETE) [^;]+);\n```$/gm);
  const queries = [...blocks].map(([, query = '']) => query);
  t.is(queries.length, 2);
  await withMigrated(async (_, pool) => {
    for (const query of queries) {
      await t.notThrowsAsync(pool.query(`EXPLAIN ${query}`), query);
    }
  });
});

test('of 20 concurrent migrations all succeed, and one does the work', async (t) => {
  await withDatabase(async (url) => {
    const applied = await Promise.all(Array.from({ length: 20 }, () => migrateStores(url)));
    const counts = applied.map((names) => names.length).filter((count) => count !== 0);
    t.deepEqual(counts, [SCHEMA_VERSION]);
  });
});

test('a schema of a newer job engine is refused by all commands that use it', async (t) => {
  await withMigrated(async (url, pool) => {
    await pool.query('UPDATE gatehouse_jobs.version SET version = version + 1');
    const refused = { instanceOf: NewerSchemaError, message: /newer than this version of Gatehouse can use/ };
    await t.throwsAsync(migrateStores(url), refused);
    const replay = await runGatehouse(['replay', '--dead-letters'], { env: { DATABASE_URL: url } });
    t.is(replay.code, 78);
    t.regex(replay.stderr, refused.message);
    for (const command of ['migrate', 'serve', 'work']) {
      const { code, stdout } = await gatehouse([command], { ...ENVIRONMENT, DATABASE_URL: url }).ended();
      t.is(code, 78, command);
      t.regex(stdout, refused.message);
    }
  });
});

test('an unreachable database ends the command with a reason, without credentials', async (t) => {
  const address = 'postgres://user:hunter2@127.0.0.1:9/x?sslmode=require';
  const { code, stdout, stderr } = await gatehouse(['migrate'], { DATABASE_URL: address }).ended();
  t.deepEqual([code, stderr], [1, '']);
  t.regex(stdout, /ECONNREFUSED/);
  t.notRegex(stdout, /hunter2/);
  const [first] = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  t.regex(first.msg, /sslmode=require is treated as verify-full/);
});

test('with --wait the command waits for the database, and logs it', async (t) => {
  await withDatabase(async (url) => {
    const proxy = await startProxy(url);
    proxy.reset();
    const command = gatehouse(['migrate', '--wait', '60'], { DATABASE_URL: proxy.url });
    await command.logged('waiting for the database');
    await proxy.pass();
    t.is((await command.ended()).code, 0);
    await proxy.close();
  });
});

test('with --wait the command waits for a free connection, and for each further one', async (t) => {
  await withDatabase(async (url, pool) => {
    const role = `limited_${randomUUID().replaceAll('-', '')}`;
    const limit = (connections: number) => pool.query(`ALTER ROLE ${role} CONNECTION LIMIT ${connections}`);
    await pool.query(`CREATE ROLE ${role} LOGIN PASSWORD 'limited' CONNECTION LIMIT 0`);
    await pool.query(`GRANT CREATE ON DATABASE ${new URL(url).pathname.slice(1)} TO ${role}`);
    const limited = new URL(url);
    Object.assign(limited, { username: role, password: 'limited' });
    const waiting = Promise.withResolvers<void>();
    const migrated = migrateStores(limited.href, { waitSeconds: 60, onWait: () => waiting.resolve() });
    try {
      await waiting.promise;
      await limit(1);
      await until(async () => {
        const { rowCount } = await pool.query('SELECT FROM pg_stat_activity WHERE usename = $1', [role]);
        return rowCount === 1;
      });
      await limit(-1);
      t.is((await migrated).length, SCHEMA_VERSION);
    } finally {
      await migrated.catch(() => {});
      await pool.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
    }
  });
});
