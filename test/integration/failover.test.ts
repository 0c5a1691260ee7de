import ava from 'ava';
import type pg from 'pg';
import { migrateStores } from '../../src/composition/migrate-stores.ts';
import { makeInboxPool, makePool, makeProbePool } from '../../src/db/pool.ts';
import { probeDatabase } from '../../src/db/probes.ts';
import { makeLog } from '../../src/log.ts';
import { makeDatabase, openPool } from '../helpers/database.ts';
import { openDoor } from '../helpers/door.ts';
import { until } from '../helpers/until.ts';

const test = ava.serial;
const TIMEOUT_MS = 4_000;
const POOLS = { 'the inbox': makeInboxPool, 'the health check': makeProbePool, 'everything else': makePool } as const;

/** Only sessions that begin later notice: as after a failover, when an address leads elsewhere and old connections stay open. */
function setReadOnly(database: pg.Pool, readOnly: boolean): Promise<unknown> {
  return database.query(
    `DO $$ BEGIN
       EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = %s', current_database(), '${readOnly ? 'on' : 'off'}');
     END $$`,
  );
}

for (const [name, open] of Object.entries(POOLS)) {
  test(`a connection that answered read-only is not used again: that of ${name}`, async (t) => {
    const database = await makeDatabase();
    await migrateStores(database.url);
    const admin = openPool(database.url);
    await setReadOnly(admin, true);
    const pool = open(database.url, makeLog('silent'));
    t.is(await probeDatabase(pool, TIMEOUT_MS), 'is read-only');
    // The session that was open before can still write.
    await setReadOnly(admin, false);
    t.is(await probeDatabase(pool, TIMEOUT_MS), undefined);
    await pool.end();
    await admin.end();
    await database.drop();
  });

  test(`connections have a longest lifetime, so that a new address is followed: ${name}`, async (t) => {
    const pool = open('postgres://127.0.0.1:9/none', makeLog('silent'));
    const seconds = pool.options.maxLifetimeSeconds ?? 0;
    t.true(seconds > 0 && seconds <= 60, `${seconds} s`);
    await pool.end();
  });
}

test('an unready door that gets no traffic is ready when a new connection can write', async (t) => {
  await using door = await openDoor();
  await setReadOnly(door.database, true);
  await using later = await openDoor({ DATABASE_URL: door.databaseUrl });
  t.is((await fetch(`${later.url}/health/ready`)).status, 503);
  await setReadOnly(door.database, false);
  await until(async () => (await fetch(`${later.url}/health/ready`)).status === 200);
  t.is((await later.post('{}')).status, 200);
});
