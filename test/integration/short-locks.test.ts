import pg from 'pg';
import { getRollbackPlans } from 'pg-boss';
import { makeShortLocks } from '../../src/db/short-locks.ts';
import { JOBS_SCHEMA } from '../../src/jobs/queue/queue.ts';
import { ENGINE_SCHEMA } from '../../src/jobs/queue/take-job.ts';
import { makeDatabase, openPool } from '../helpers/database.ts';
import { openDoor } from '../helpers/door.ts';
import nightly from '../helpers/nightly.ts';
import { pullRequestOpened } from '../helpers/payloads.ts';
import { gatehouse } from '../helpers/process.ts';
import { sized } from '../helpers/size.ts';
import ava from '../helpers/test.ts';

const test = ava.serial;

/** A session that reads a table, and stays in its transaction. */
async function openReader(url: string, table: string) {
  const client = new pg.Client({ connectionString: url, application_name: 'a report' });
  client.on('error', () => {});
  await client.connect();
  await client.query(`BEGIN; SELECT count(*) FROM ${table}`);
  return {
    async end() {
      await client.query('COMMIT');
      await client.end();
    },
  };
}

test('no delivery is refused while a migration waits for a reader of the table', async (t) => {
  await using door = await openDoor();
  const reader = await openReader(door.databaseUrl, 'gatehouse.deliveries');
  const client = new pg.Client({ connectionString: door.databaseUrl });
  client.on('error', () => {});
  await client.connect();
  const told: (readonly string[])[] = [];
  const locks = await makeShortLocks(client, door.databaseUrl, (blockers) => told.push(blockers));
  let attempts = 0;
  const migration = locks.run(async () => {
    attempts += 1;
    await client.query('BEGIN; ALTER TABLE gatehouse.deliveries ADD COLUMN note text; COMMIT');
  });
  let sent = 0;
  while (attempts < sized(2, 3)) {
    sent += 1;
    t.is((await door.post(JSON.stringify({ sent }))).status, 200);
  }
  // Beside it, a delivery that was being stored may have been seen.
  t.regex(told[0]?.join() ?? '', /a report of \w+ \(process \d+, idle in transaction for \d+ s\)/);
  await reader.end();
  await migration;
  t.is((await door.deliveries()).length, sent);
  await locks.close();
  await client.end();
});

nightly('no delivery is refused while an upgrade of the job engine waits for a lock', async (t) => {
  await using door = await openDoor();
  const { event, body } = pullRequestOpened();
  const send = async (id: number) =>
    (await door.post(body, { 'x-forge-event': event, 'x-forge-delivery': String(id) })).status;
  t.is(await send(0), 200);
  // The version before, as the engine itself brings it about.
  await door.database.query(getRollbackPlans(JOBS_SCHEMA));
  const reader = await openReader(door.databaseUrl, `${JOBS_SCHEMA}.job`);
  const migration = gatehouse(['migrate'], { DATABASE_URL: door.databaseUrl });
  await migration.logged('the migration waits for a lock, and lets deliveries pass meanwhile');
  for (let id = 1; id <= 10; id++) {
    t.is(await send(id), 200);
  }
  await reader.end();
  t.is((await migration.ended()).code, 0);
  const { rows } = await door.database.query(`SELECT version FROM ${JOBS_SCHEMA}.version`);
  t.deepEqual(rows, [{ version: ENGINE_SCHEMA }]);
});

test('gatehouse migrate logs who blocks it, and ends when that session does', async (t) => {
  const database = await makeDatabase();
  const admin = openPool(database.url);
  // The files are applied one after the other, and each is then entered here.
  await admin.query(`
    CREATE SCHEMA gatehouse;
    CREATE TABLE gatehouse.migrations (id serial PRIMARY KEY, name varchar(255) NOT NULL, run_on timestamp NOT NULL)`);
  const blocker = await admin.connect();
  await blocker.query(`SET application_name = 'a report'; BEGIN; LOCK TABLE gatehouse.migrations IN SHARE MODE`);
  const command = gatehouse(['migrate'], { DATABASE_URL: database.url });
  const { blockers } = await command.logged('the migration waits for a lock, and lets deliveries pass meanwhile');
  t.regex(String(blockers), /^a report of \w+ \(process \d+, idle in transaction for \d+ s\)$/);
  await blocker.query('COMMIT');
  blocker.release();
  t.is((await command.ended()).code, 0);
  await admin.end();
  await database.drop();
});
