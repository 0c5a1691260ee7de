import test, { type ExecutionContext } from 'ava';
import type pg from 'pg';
import { PgBoss } from 'pg-boss';
import { RECORD } from '../../src/audit/partitions.ts';
import { makePartitions } from '../../src/db/partitions.ts';
import { lackingRights, rightsOf } from '../../src/db/rights.ts';
import { inTransaction } from '../../src/db/transaction.ts';
import { DAYS } from '../../src/inbox/days.ts';
import { readQueueStats } from '../../src/jobs/queue/queue-stats.ts';
import { QUEUES } from '../../src/jobs/queues.ts';
import { retentionPiece } from '../../src/jobs/retention.ts';
import { countBaselines } from '../../src/jobs/tables/baselines.ts';
import { makeLog } from '../../src/log.ts';
import { makeMigratedDatabase, openPool } from '../helpers/database.ts';
import { askDoctor } from '../helpers/doctor.ts';
import { DOOR, SECRET, WORKER } from '../helpers/door.ts';
import { REPOSITORY, tellStory } from '../helpers/story.ts';

type Role = Parameters<typeof rightsOf>[0];

interface User {
  readonly name: string;
  readonly url: string;
  readonly pool: pg.Pool;
}

const OWNED = [...DAYS.tables, ...RECORD.tables];
const PARTITIONS = `
  SELECT format('%I.%I', nspname, relname) AS name FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
   WHERE nspname = 'gatehouse' AND relkind IN ('r', 'p') AND (relispartition OR relname = ANY ($1))`;

/** A database with a user for the door and one for the worker. Each has what doctor tries, and nothing else. */
async function withUsers(t: ExecutionContext) {
  const database = await makeMigratedDatabase();
  const admin = openPool(database.url);
  const run = (sql: string) => admin.query(sql);
  const suffix = new URL(database.url).pathname.slice(1);
  const owner = `owner_${suffix}`;
  await run(`CREATE ROLE ${owner}`);
  for (const { name } of (await admin.query<{ name: string }>(PARTITIONS, [OWNED])).rows) {
    await run(`ALTER TABLE ${name} OWNER TO ${owner}; REVOKE ALL ON ${name} FROM ${owner}`);
  }
  const pools: pg.Pool[] = [];
  async function makeUser(role: Role): Promise<User> {
    const name = `${role}_${suffix}`;
    await run(`CREATE ROLE ${name} LOGIN PASSWORD 'pw' IN ROLE ${owner}`);
    await run(`GRANT USAGE, CREATE ON SCHEMA gatehouse TO ${name}; GRANT USAGE ON SCHEMA gatehouse_jobs TO ${name}`);
    for (const [right, table] of rightsOf(role)) {
      await run(`GRANT ${right} ON ${table} TO ${name}`);
    }
    const url = new URL(database.url);
    url.username = name;
    url.password = 'pw';
    const pool = openPool(url.href);
    pools.push(pool);
    return { name, url: url.href, pool };
  }
  const door = await makeUser('door');
  const worker = await makeUser('worker');
  await run(`GRANT USAGE ON SEQUENCE gatehouse.review_fence TO ${worker.name}`);
  t.teardown(async () => {
    await Promise.all([...pools, admin].map((pool) => pool.end()));
    await database.drop();
  });
  return { owner, door, worker, run, admin, url: database.url };
}

async function lackingOf({ pool }: User, role: Role): Promise<readonly string[]> {
  const client = await pool.connect();
  try {
    return await lackingRights(client, [role], role === 'door' ? [DAYS] : [DAYS, RECORD]);
  } finally {
    client.release();
  }
}

async function askAbout({ url }: User, role: Role) {
  const own = role === 'door' ? { WEBHOOK_SECRET: SECRET } : { FORGE_TOKEN: 'any', FORGE_URL: 'http://127.0.0.1:1' };
  return (await askDoctor([], { FORGE: 'gitea', ...own, DATABASE_URL: url })).of('database rights').join();
}

const POLICY = `version: 1
override: { by: [bob] }
rules:
  - id: titled
    require: { title: '^feat: ' }
`;

test('with just the rights that doctor tries, door and worker do all their work', async (t) => {
  const { door, worker, admin, url } = await withUsers(t);
  t.is(await askAbout(door, 'door'), '✔ may do all that the service does');
  t.is(await askAbout(worker, 'worker'), '✔ may do all that the service does');

  const lines: string[] = [];
  const log = makeLog('debug', { write: (line: string) => lines.push(line) });
  await using story = await tellStory('gitea', { '.gatehouse.yml': POLICY }, { DATABASE_URL: url }, DOOR, { log });
  await using doorOfUser = await story.openDoor({ DATABASE_URL: door.url }, DOOR);
  const started = new Date();
  await using _workerOfUser = await story.openDoor({ DATABASE_URL: worker.url }, WORKER);
  await story.resynced(started);
  story.sendTo(`${doorOfUser.url}/webhook`, SECRET);

  const number = await story.open({ 'a.ts': 'a\n' }, { title: 'things' });
  await story.expect(t, number, 'failure');
  const head = story.forge.pull(REPOSITORY, number).headSha;
  await story.comment(number, 'bob', `/gatehouse override titled ${head} hotfix`);
  await story.expect(t, number, 'success');
  story.forge.merge(REPOSITORY, number, { how: 'merge', by: 'bob', force: true });
  await story.tell({ kind: 'pull-request', number, action: 'closed' });
  await story.settled();

  await supervise(worker);
  for (const partitioning of [DAYS, RECORD]) {
    await inTransaction(worker.pool, 10_000, (client) => makePartitions(client, { ...partitioning, ahead: 9 }));
  }
  const { signal } = new AbortController();
  const deps = { pool: worker.pool, log, stopping: signal, requestPeriodic: async () => {} };
  await retentionPiece({ ...deps, retentionDays: 0, auditDays: 0 });
  t.deepEqual((await admin.query(PARTITIONS, [[]])).rows, [], 'retention may drop every partition');

  await inTransaction(door.pool, 10_000, (client) => makePartitions(client, DAYS));
  await admin.query("UPDATE gatehouse.queue_counts SET counted_at = '-infinity'");
  await readQueueStats(door.pool, QUEUES);
  await countBaselines(door.pool);
  const refused = lines.filter((line) => /permission denied|must be owner|42501/.test(line));
  t.deepEqual(refused, []);
});

/** What the job engine does now and then. */
async function supervise({ pool }: User): Promise<void> {
  const boss = new PgBoss({
    db: { executeSql: async (text: string, values?: unknown[]) => pool.query(text, values) },
    ...{ schema: 'gatehouse_jobs', migrate: false, schedule: false, supervise: false },
  });
  await boss.start();
  await pool.query('UPDATE gatehouse_jobs.queue SET monitor_on = NULL, maintain_on = NULL, monitor_claim_on = NULL');
  await pool.query('UPDATE gatehouse_jobs.version SET reindex_on = NULL');
  await boss.supervise();
  await boss.stop({ graceful: false, close: false });
}

test('doctor names the table and each right that a user lacks', async (t) => {
  const users = await withUsers(t);
  const { worker, run } = users;
  for (const role of ['door', 'worker'] as const) {
    const user = users[role];
    for (const [right, table] of rightsOf(role)) {
      await run(`REVOKE ${right} ON ${table} FROM ${user.name}`);
      const [first, ...others] = await lackingOf(user, role);
      await run(`GRANT ${right} ON ${table} TO ${user.name}`);
      t.is(first, `${right} on ${table}`);
      // Whoever may not read a table can neither lock its rows nor make another like it.
      t.true(right === 'SELECT' || others.length === 0, others.join());
    }
    t.deepEqual(await lackingOf(user, role), []);
  }
  await run(`REVOKE INSERT, DELETE ON gatehouse.reviews FROM ${worker.name}`);
  await run(`REVOKE INSERT ON gatehouse.merges FROM ${worker.name}`);
  const said = await askAbout(worker, 'worker');
  t.regex(
    said,
    /^✘ the user lacks INSERT on gatehouse\.merges, INSERT on gatehouse\.reviews, DELETE on gatehouse\.reviews → grant/,
  );
});

test('doctor names a schema, a sequence and a table that a user may not use or own', async (t) => {
  const { owner, worker, run, admin } = await withUsers(t);
  const [partition] = (await admin.query<{ name: string }>(PARTITIONS, [[]])).rows;
  const cases: readonly (readonly [what: string, take: string, give: string])[] = [
    ...['USAGE on schema gatehouse', 'USAGE on schema gatehouse_jobs', 'CREATE on schema gatehouse'].map(
      (what) => [what, `REVOKE ${what} FROM ${worker.name}`, `GRANT ${what} TO ${worker.name}`] as const,
    ),
    [
      'USAGE on gatehouse.review_fence',
      `REVOKE USAGE ON SEQUENCE gatehouse.review_fence FROM ${worker.name}`,
      `GRANT UPDATE ON SEQUENCE gatehouse.review_fence TO ${worker.name}`,
    ],
    ...[...OWNED.map((name) => `gatehouse.${name}`), partition?.name].map(
      (name) =>
        [
          `ownership of ${name}`,
          `ALTER TABLE ${name} OWNER TO CURRENT_USER`,
          `ALTER TABLE ${name} OWNER TO ${owner}`,
        ] as const,
    ),
  ];
  for (const [what, take, give] of cases) {
    await run(take);
    t.deepEqual(await lackingOf(worker, 'worker'), [what]);
    await run(give);
    t.deepEqual(await lackingOf(worker, 'worker'), []);
  }
});

test('doctor finds nothing that a member of the role that migrated lacks', async (t) => {
  const { owner, worker, run, admin } = await withUsers(t);
  await run(`REASSIGN OWNED BY ${owner} TO CURRENT_USER; DROP OWNED BY ${worker.name}; DROP OWNED BY ${owner}`);
  const schemas = ['USAGE on schema gatehouse', 'USAGE on schema gatehouse_jobs'];
  t.deepEqual(await lackingOf(worker, 'worker'), schemas);
  const { rows } = await admin.query<{ name: string }>('SELECT quote_ident(CURRENT_USER) AS name');
  await run(`GRANT ALL ON ALL TABLES IN SCHEMA gatehouse TO CURRENT_USER`);
  await run(`GRANT ${rows[0]?.name} TO ${worker.name}`);
  t.deepEqual(await lackingOf(worker, 'worker'), []);
});

test('doctor tries nothing that stays, and skips what another holds a lock on', async (t) => {
  const { worker, admin } = await withUsers(t);
  const tables = async () => (await admin.query("SELECT relname FROM pg_class WHERE relname LIKE '%doctor%'")).rows;
  const number = async () => (await admin.query('SELECT last_value FROM gatehouse.review_fence')).rows;
  const before = await number();
  const holder = await admin.connect();
  await holder.query('BEGIN; LOCK TABLE gatehouse.deliveries IN ACCESS EXCLUSIVE MODE');
  t.regex(await askAbout(worker, 'worker'), /^\? skipped: they cannot be tried: .*lock timeout$/);
  await holder.query('ROLLBACK');
  holder.release();
  t.regex(await askAbout(worker, 'worker'), /^✔/);
  t.deepEqual(await tables(), []);
  t.deepEqual(await number(), before);
});
