import type { ExecutionContext } from 'ava';
import { RECORD } from '../../src/audit/partitions.ts';
import { lackingRights, RIGHTS, tablesFor } from '../../src/db/rights.ts';
import { DAYS } from '../../src/inbox/days.ts';
import { makeOpenDatabase, openPool } from '../helpers/database.ts';
import { askDoctor } from '../helpers/doctor.ts';
import { SECRET } from '../helpers/door.ts';
import test from '../helpers/test.ts';

const OWNED = [...DAYS.tables, ...RECORD.tables].map((name) => `gatehouse.${name}`);
const GRANTS = (Object.keys(RIGHTS) as (keyof typeof RIGHTS)[]).flatMap((right) =>
  tablesFor(right).map((table) => `${right} on ${table}`),
);

/** By the digits of their numbers in binary: no two rights are in the same rounds, and none is in no round. */
function roundsOf(rights: readonly string[]): readonly (readonly string[])[] {
  const digits = rights.length.toString(2).length;
  const has = (number: number, digit: number) => number.toString(2).at(-1 - digit) === '1';
  return Array.from({ length: digits }, (_, digit) => rights.filter((_right, index) => has(index + 1, digit)));
}

/** A database with a user that has what doctor tries, and nothing else. */
async function withUser(t: ExecutionContext) {
  const { url: ownersUrl, pool: admin } = await makeOpenDatabase(t);
  const run = (sql: string) => admin.query(sql);
  const name = `user_${new URL(ownersUrl).pathname.slice(1)}`;
  await run(`CREATE ROLE ${name} LOGIN PASSWORD 'pw'`);
  await run(`GRANT USAGE ON SCHEMA gatehouse, gatehouse_jobs TO ${name}; GRANT CREATE ON SCHEMA gatehouse TO ${name}`);
  for (const table of OWNED) {
    await run(`ALTER TABLE ${table} OWNER TO ${name}; REVOKE ALL ON ${table} FROM ${name}`);
  }
  for (const grant of GRANTS) {
    await run(`GRANT ${grant} TO ${name}`);
  }
  await run(`GRANT USAGE ON SEQUENCE gatehouse.review_fence TO ${name}`);
  const url = new URL(ownersUrl);
  url.username = name;
  url.password = 'pw';
  const pool = openPool(url.href);
  t.teardown(() => pool.end());

  const env = { FORGE: 'gitea', WEBHOOK_SECRET: SECRET, DATABASE_URL: url.href };
  return {
    name,
    run,
    admin,
    ask: async () => (await askDoctor([], env)).of('database rights').join(),
    async lacking() {
      const client = await pool.connect();
      try {
        return await lackingRights(client, [DAYS, RECORD]);
      } finally {
        client.release();
      }
    },
  };
}

test('doctor names the table and each right that a user lacks, and nothing where it has just those', async (t) => {
  const { name, run, lacking, ask } = await withUser(t);
  t.is(await ask(), '✔ the user has all that the service needs');
  const without = async (grants: readonly string[]) => {
    await run(grants.map((grant) => `REVOKE ${grant} FROM ${name}`).join('; '));
    const found = await lacking();
    await run(grants.map((grant) => `GRANT ${grant} TO ${name}`).join('; '));
    return found;
  };
  const isOfReading = (right: string) => right.startsWith('SELECT');
  for (const grants of roundsOf(GRANTS.filter((grant) => !isOfReading(grant)))) {
    t.deepEqual(await without(grants), grants);
  }
  for (const grants of roundsOf(GRANTS.filter(isOfReading))) {
    // Whoever may not read a table can neither lock its rows nor make another like it.
    t.deepEqual((await without(grants)).filter(isOfReading), grants);
  }
  t.deepEqual(await lacking(), []);
  await run(`REVOKE INSERT, DELETE ON gatehouse.reviews FROM ${name}; REVOKE INSERT ON gatehouse.merges FROM ${name}`);
  t.regex(
    await ask(),
    /^✘ the user lacks INSERT on gatehouse\.merges, INSERT on gatehouse\.reviews, DELETE on gatehouse\.reviews → grant/,
  );
  await run(`REVOKE USAGE ON SCHEMA gatehouse_jobs FROM ${name}`);
  t.regex(await ask(), /^✘ the user lacks SELECT on gatehouse_jobs\.job, .*… → grant/);
});

test('doctor names a sequence and a table that a user may not use or own', async (t) => {
  const { name, run, lacking } = await withUser(t);
  await run(`REVOKE USAGE ON SEQUENCE gatehouse.review_fence FROM ${name}`);
  t.deepEqual(await lacking(), ['USAGE on gatehouse.review_fence']);
  await run(`GRANT UPDATE ON SEQUENCE gatehouse.review_fence TO ${name}`);
  t.deepEqual(await lacking(), []);
  for (const table of OWNED) {
    await run(`ALTER TABLE ${table} OWNER TO CURRENT_USER`);
    t.is((await lacking()).at(-1), `ownership of ${table} with CREATE on its schema`);
    await run(`ALTER TABLE ${table} OWNER TO ${name}`);
  }
  await run(`REVOKE CREATE ON SCHEMA gatehouse FROM ${name}`);
  t.is((await lacking()).length, OWNED.length);
});

test('doctor tries nothing that stays, and skips what another holds a lock on', async (t) => {
  const { ask, admin } = await withUser(t);
  const holder = await admin.connect();
  await holder.query('BEGIN; LOCK TABLE gatehouse.deliveries IN ACCESS EXCLUSIVE MODE');
  t.regex(await ask(), /^\? skipped: cannot try them: .*lock timeout$/);
  await holder.query('ROLLBACK');
  holder.release();
  t.regex(await ask(), /^✔/);
  t.deepEqual((await admin.query("SELECT relname FROM pg_class WHERE relname LIKE '%doctor%'")).rows, []);
});
