import test, { type ExecutionContext } from 'ava';
import type pg from 'pg';
import { PgBoss } from 'pg-boss';
import { RECORD } from '../../src/audit/partitions.ts';
import { makePartitions } from '../../src/db/partitions.ts';
import { GRANTS, lackingRights } from '../../src/db/rights.ts';
import { DAYS } from '../../src/inbox/days.ts';
import { retentionPiece } from '../../src/jobs/retention.ts';
import { makeLog } from '../../src/log.ts';
import { makeMigratedDatabase, openPool } from '../helpers/database.ts';
import { askDoctor } from '../helpers/doctor.ts';
import { SECRET } from '../helpers/door.ts';
import { REPOSITORY, tellStory, workerComesBy } from '../helpers/story.ts';

const OWNED = [...DAYS.tables, ...RECORD.tables];
const tableOf = (name: string) => (name.includes('.') ? name : `gatehouse.${name}`);
const OF_TABLES = Object.entries(GRANTS).flatMap(([names, rights]) =>
  names.split(' ').map((name) => ({ table: tableOf(name), rights })),
);

const PARTITIONS = `
  SELECT format('%I.%I', nspname, relname) AS name FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
   WHERE nspname = 'gatehouse' AND relkind IN ('r', 'p') AND (relispartition OR relname = ANY ($1))`;

/** A role that has what doctor tries, and nothing else. */
async function withRole(t: ExecutionContext) {
  const database = await makeMigratedDatabase();
  const admin = openPool(database.url);
  const url = new URL(database.url);
  const role = `service_${url.pathname.slice(1)}`;
  url.username = role;
  url.password = 'pw';
  const run = (sql: string) => admin.query(sql);
  await run(`CREATE ROLE ${role} LOGIN PASSWORD 'pw'`);
  const { rows } = await admin.query<{ name: string }>(PARTITIONS, [OWNED]);
  for (const { name } of rows) {
    await run(`ALTER TABLE ${name} OWNER TO ${role}; REVOKE ALL ON ${name} FROM ${role}`);
  }
  await run(`GRANT USAGE, CREATE ON SCHEMA gatehouse TO ${role}`);
  await run(`GRANT USAGE ON SCHEMA gatehouse_jobs TO ${role}`);
  await run(`GRANT USAGE ON SEQUENCE gatehouse.review_fence TO ${role}`);
  for (const { table, rights } of OF_TABLES) {
    await run(`GRANT ${rights.join(', ')} ON ${table} TO ${role}`);
  }
  const pool = openPool(url.href);
  t.teardown(async () => {
    await pool.end();
    await admin.end();
    await database.drop();
  });
  return { role, run, pool, admin, url: url.href };
}

async function lackingOf(pool: pg.Pool): Promise<readonly string[]> {
  const client = await pool.connect();
  try {
    return await lackingRights(client, [DAYS, RECORD]);
  } finally {
    client.release();
  }
}

const askAbout = async (databaseUrl: string) =>
  (await askDoctor([], { FORGE: 'gitea', WEBHOOK_SECRET: SECRET, DATABASE_URL: databaseUrl })).of('database rights');

const POLICY = `version: 1
override: { by: [bob] }
rules:
  - id: titled
    require: { title: '^feat: ' }
`;

test('with just the rights that doctor finds enough, all of the service works', async (t) => {
  const { url, pool, admin } = await withRole(t);
  t.deepEqual(await askAbout(url), ['✔ may do all that the service does']);

  const lines: string[] = [];
  const log = makeLog('debug', { write: (line: string) => lines.push(line) });
  const environment = { DATABASE_URL: url };
  await using story = await tellStory('gitea', { '.gatehouse.yml': POLICY }, environment, undefined, { log });
  const number = await story.open({ 'a.ts': 'a\n' }, { title: 'things' });
  await story.expect(t, number, 'failure');
  const head = story.forge.pull(REPOSITORY, number).headSha;
  await story.comment(number, 'bob', `/gatehouse override titled ${head} hotfix`);
  await story.expect(t, number, 'success');
  story.forge.merge(REPOSITORY, number, { how: 'merge', by: 'bob', force: true });
  await story.tell({ kind: 'pull-request', number, action: 'closed' });
  await story.settled();
  const other = await story.open({ 'b.ts': 'b\n' }, { title: 'feat: things' });
  await story.expect(t, other, 'success');
  story.forge.rename(REPOSITORY, 'acme/gadgets');
  await workerComesBy(story, environment, ['acme/gadgets']);

  const boss = new PgBoss({
    db: { executeSql: async (text: string, values?: unknown[]) => pool.query(text, values) },
    ...{ schema: 'gatehouse_jobs', migrate: false, schedule: false, supervise: false },
  });
  await boss.start();
  await admin.query('UPDATE gatehouse_jobs.queue SET monitor_on = NULL, maintain_on = NULL, monitor_claim_on = NULL');
  await boss.supervise();
  await boss.stop({ graceful: false, close: false });

  await admin.query(`UPDATE gatehouse_jobs.version SET reindex_on = NULL`);
  for (const partitioning of [DAYS, RECORD]) {
    const client = await pool.connect();
    await client.query('BEGIN');
    await makePartitions(client, { ...partitioning, ahead: 9 });
    await client.query('COMMIT');
    client.release();
  }
  const signal = new AbortController().signal;
  const deps = { pool, log, stopping: signal, requestPeriodic: async () => {} };
  await retentionPiece({ ...deps, retentionDays: 0, auditDays: 0 });
  const { rows } = await admin.query<{ name: string }>(PARTITIONS, [[]]);
  t.deepEqual(rows, [], 'retention may drop every partition');
  t.deepEqual(
    lines.filter((line) => /permission denied|must be owner|42501/.test(line)),
    [],
  );
});

test('doctor names the table and the right that a role lacks', async (t) => {
  const { role, run, pool, url } = await withRole(t);
  for (const { table, rights } of OF_TABLES) {
    for (const right of rights) {
      await run(`REVOKE ${right} ON ${table} FROM ${role}`);
      const lacking = await lackingOf(pool);
      await run(`GRANT ${right} ON ${table} TO ${role}`);
      t.is(lacking[0], `${right} on ${table}`);
      t.true(right === 'SELECT' || lacking.length === 1, lacking.join());
    }
  }
  await run(`REVOKE INSERT, DELETE ON gatehouse.reviews FROM ${role}; REVOKE INSERT ON gatehouse.merges FROM ${role}`);
  t.regex(
    (await askAbout(url)).join(),
    /^✘ the user lacks INSERT on gatehouse\.merges, INSERT on gatehouse\.reviews, DELETE on gatehouse\.reviews → grant/,
  );
});

test('doctor names a schema, a sequence and a table that a role may not use or own', async (t) => {
  const { role, run, pool } = await withRole(t);
  t.deepEqual(await lackingOf(pool), []);
  const [partition = ''] = (await pool.query<{ name: string }>(PARTITIONS, [[]])).rows.map(({ name }) => name);
  const cases: readonly (readonly [take: string, give: string, lacking: string])[] = [
    [
      `REVOKE USAGE ON SCHEMA gatehouse FROM ${role}`,
      `GRANT USAGE ON SCHEMA gatehouse TO ${role}`,
      'USAGE on schema gatehouse',
    ],
    [
      `REVOKE USAGE ON SCHEMA gatehouse_jobs FROM ${role}`,
      `GRANT USAGE ON SCHEMA gatehouse_jobs TO ${role}`,
      'USAGE on schema gatehouse_jobs',
    ],
    [
      `REVOKE CREATE ON SCHEMA gatehouse FROM ${role}`,
      `GRANT CREATE ON SCHEMA gatehouse TO ${role}`,
      'CREATE on schema gatehouse',
    ],
    [
      `REVOKE USAGE ON SEQUENCE gatehouse.review_fence FROM ${role}`,
      `GRANT UPDATE ON SEQUENCE gatehouse.review_fence TO ${role}`,
      'USAGE on gatehouse.review_fence',
    ],
    [
      `ALTER TABLE ${partition} OWNER TO CURRENT_USER`,
      `ALTER TABLE ${partition} OWNER TO ${role}`,
      `ownership of ${partition}`,
    ],
    ...OWNED.map(
      (name) =>
        [
          `ALTER TABLE gatehouse.${name} OWNER TO CURRENT_USER; GRANT ALL ON gatehouse.${name} TO ${role}`,
          `ALTER TABLE gatehouse.${name} OWNER TO ${role}`,
          `ownership of gatehouse.${name}`,
        ] as const,
    ),
  ];
  for (const [take, give, lacking] of cases) {
    await run(take);
    t.is((await lackingOf(pool))[0], lacking);
    await run(give);
    t.deepEqual(await lackingOf(pool), []);
  }
});

test('doctor asks nothing more of a member of the role that migrated', async (t) => {
  const { role, run, pool, admin } = await withRole(t);
  await run(`REASSIGN OWNED BY ${role} TO CURRENT_USER; DROP OWNED BY ${role}`);
  t.deepEqual(await lackingOf(pool), ['USAGE on schema gatehouse', 'USAGE on schema gatehouse_jobs']);
  const { rows } = await admin.query<{ owner: string }>('SELECT quote_ident(CURRENT_USER) AS owner');
  await run(`GRANT ${rows[0]?.owner} TO ${role}`);
  t.deepEqual(await lackingOf(pool), []);
});
