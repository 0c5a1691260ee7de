import type { ExecutionContext } from 'ava';
import type pg from 'pg';
import { migrateStores } from '../../src/composition/migrate-stores.ts';
import { makeLackingCheck } from '../../src/db/lacking.ts';
import { makeInboxPool } from '../../src/db/pool.ts';
import { dropOldDays } from '../../src/inbox/drop-days.ts';
import { makeInbox } from '../../src/inbox/inbox.ts';
import { probeStoring } from '../../src/inbox/probe-storing.ts';
import { makeStoringHealth } from '../../src/inbox/storing-health.ts';
import { makeLog } from '../../src/log.ts';
import { makeMetrics } from '../../src/metrics.ts';
import { openPool, WAITING_FOR_A_LOCK } from '../helpers/database.ts';
import { addDays, days, isoToday, onOneDay } from '../helpers/days.ts';
import { storedDeliveries } from '../helpers/door.ts';
import { delivery, openInbox } from '../helpers/inbox.ts';
import { PATIENCE } from '../helpers/patience.ts';
import ava from '../helpers/test.ts';
import { until } from '../helpers/until.ts';

const test = (title: string, body: (t: ExecutionContext) => Promise<void>) => ava.serial(title, onOneDay(body));
const log = makeLog('silent');

const COPIES = 20;
const AHEAD = 7;

/** Every other transaction comes at the end of yesterday, the others when today begins. */
const MIDNIGHT = `
  CREATE FUNCTION public.around_midnight() RETURNS timestamptz LANGUAGE sql STABLE AS $$
    SELECT date_trunc('day', now(), 'UTC') - CASE WHEN txid_current() % 2 = 0 THEN interval '1 ms' ELSE '0' END $$;
  ALTER TABLE gatehouse.deliveries ALTER received_at SET DEFAULT public.around_midnight();
  ALTER TABLE gatehouse.frames ALTER received_at SET DEFAULT public.around_midnight();
  ALTER TABLE gatehouse.delivery_keys ALTER received_at SET DEFAULT public.around_midnight()`;

async function jobStatements(jobs: readonly string[]) {
  return jobs.map((job) => ({ text: 'INSERT INTO public.jobs VALUES ($1)', values: [job] }));
}

/** Two doors on one database, of which each gathers its own batches. */
async function openTwoDoors(prepare: (pool: pg.Pool) => Promise<unknown> = async () => {}) {
  const first = await openInbox({
    jobStatements,
    prepare: async (pool) => {
      await pool.query('CREATE TABLE public.jobs (name text)');
      await prepare(pool);
    },
  });
  const pool = makeInboxPool(first.databaseUrl, log, PATIENCE);
  const metrics = makeMetrics();
  const storing = makeStoringHealth(() => {});
  const second = makeInbox<string>({
    pool,
    refuseLacking: makeLackingCheck(),
    jobStatements,
    wakeWorkers: () => {},
    storing,
    metrics,
    log,
    patience: PATIENCE,
  });
  return {
    pool: first.pool,
    inboxes: [first.inbox, second],
    async [Symbol.asyncDispose]() {
      await second.idle();
      await pool.end();
      await first[Symbol.asyncDispose]();
    },
  };
}

test('a delivery sent 20 times around midnight is stored once, with one job', async (t) => {
  await using doors = await openTwoDoors(async (pool) => {
    await addDays(pool, 1);
    await pool.query(MIDNIGHT);
  });
  const partitionsUsed = async () =>
    (await doors.pool.query('SELECT DISTINCT tableoid FROM gatehouse.deliveries')).rowCount ?? 0;
  // By chance, ten rounds may all be of one day.
  for (let round = 0; round < 10 || (round < 100 && (await partitionsUsed()) < 2); round++) {
    // One number of a transaction, so that the rounds do not all begin on the same day.
    await doors.pool.query('SELECT txid_current()');
    const sent = Array.from({ length: 5 }, () => delivery({ job: `job ${round}` }));
    const answers = await Promise.all(
      Array.from({ length: COPIES }, (_, copy) => sent.map((one) => doors.inboxes[copy % 2]?.accept(one))).flat(),
    );
    const count = (outcome: string) => answers.filter((answer) => answer?.outcome === outcome).length;
    t.is(count('accepted'), sent.length);
    t.is(count('duplicate'), (COPIES - 1) * sent.length);
    const { rowCount } = await doors.pool.query('SELECT FROM gatehouse.deliveries WHERE delivery_id = ANY ($1)', [
      sent.map(({ deliveryId }) => deliveryId),
    ]);
    t.is(rowCount, sent.length);
    t.is((await doors.pool.query('SELECT FROM public.jobs WHERE name = $1', [`job ${round}`])).rowCount, sent.length);
  }
  t.is(await partitionsUsed(), 2, 'of both days');
});

async function dropAllDays(pool: pg.Pool): Promise<void> {
  await pool.query(`DROP TABLE ${(await days(pool)).map((name) => `gatehouse.${name}`).join(', ')}`);
}

test('no delivery is refused because the partition of its day is missing', async (t) => {
  await using doors = await openTwoDoors();
  for (let round = 0; round < 3; round++) {
    await dropAllDays(doors.pool);
    const sent = Array.from({ length: 40 }, () => delivery({ job: 'a job' }));
    const answers = await Promise.all(sent.map((one, index) => doors.inboxes[index % 2]?.accept(one)));
    t.true(answers.every((answer) => answer?.outcome === 'accepted'));
    t.is((await storedDeliveries(doors.pool)).length, sent.length);
    t.is((await days(doors.pool)).length, 2 * (1 + AHEAD));
  }
  t.is((await doors.pool.query('SELECT FROM public.jobs')).rowCount, 3 * 40);
});

test('a missing partition never keeps the door unready', async (t) => {
  await using door = await openInbox();
  await dropAllDays(door.pool);
  await probeStoring(door.pool, 4_000, async () => []);
  t.is((await door.inbox.accept(delivery())).outcome, 'accepted');
});

test('a day that was detached under a wrong clock takes deliveries again', async (t) => {
  await using door = await openInbox();
  await door.inbox.accept(delivery());
  const { rows } = await door.pool.query<{ name: string }>(
    'SELECT DISTINCT tableoid::regclass::text AS name FROM gatehouse.deliveries',
  );
  await door.pool.query(`ALTER TABLE gatehouse.deliveries DETACH PARTITION ${rows[0]?.name}`);
  t.is((await door.inbox.accept(delivery())).outcome, 'accepted');
  t.is((await storedDeliveries(door.pool)).length, 2);
});

test('migrating makes the partitions of a week ahead, and again makes none', async (t) => {
  await using door = await openInbox();
  // The database is a copy of one that was made when the tests began, which may be yesterday.
  await migrateStores(door.databaseUrl);
  const made = await days(door.pool);
  const { rows } = await door.pool.query<{ name: string }>(
    `SELECT format('%s_%s', parent, to_char((now() AT TIME ZONE 'UTC')::date + ahead, 'YYYY_MM_DD')) AS name
       FROM unnest('{deliveries, frames}'::text[]) AS parent, generate_series(0, $1::int) AS ahead ORDER BY name`,
    [AHEAD],
  );
  const today = isoToday();
  t.deepEqual(
    made.filter((name) => dayOf(name) >= today),
    rows.map(({ name }) => name),
  );
  await migrateStores(door.databaseUrl);
  t.deepEqual(await days(door.pool), made);
});

/** Of `deliveries_2026_01_31`, the date: `2026-01-31`. */
function dayOf(partition: string): string {
  return partition.slice(-'2026_01_31'.length).replaceAll('_', '-');
}

/** A door, so many days before today, and how to count those that are left. Its `pool` is not the door's. */
async function openDays(count: number) {
  const door = await openInbox();
  const pool = openPool(door.databaseUrl);
  await addDays(pool, count);
  return {
    ...door,
    pool,
    past: async () => (await days(pool)).filter((name) => dayOf(name) < isoToday()).length / 2,
    async [Symbol.asyncDispose]() {
      await pool.end();
      await door[Symbol.asyncDispose]();
    },
  };
}

test('retention drops a day when all of it is old, and none before', async (t) => {
  await using door = await openDays(4);
  await door.pool.query(
    `INSERT INTO gatehouse.deliveries (hook_id, delivery_id, received_at, event, body_sha256, body)
     SELECT '', ago, now() - make_interval(days => ago), 'push', ''::bytea, ''::bytea FROM generate_series(0, 4) AS ago`,
  );
  await dropOldDays(door.pool, 2, log);
  // The day of two days ago has a part that is younger than two days.
  t.is(await door.past(), 2);
  const { rows } = await door.pool.query('SELECT delivery_id::int AS ago FROM gatehouse.deliveries ORDER BY ago');
  t.deepEqual(rows, [{ ago: 0 }, { ago: 1 }, { ago: 2 }]);
  await dropOldDays(door.pool, 2, log);
  t.is(await door.past(), 2);
});

test('two retentions at once drop each day once', async (t) => {
  await using door = await openDays(10);
  await Promise.all([dropOldDays(door.pool, 1, log), dropOldDays(door.pool, 1, log)]);
  t.is(await door.past(), 1);
});

test('a day is dropped after a retention that ended between detaching and dropping', async (t) => {
  await using door = await openDays(3);
  const old = (await days(door.pool))[0];
  await door.pool.query(`ALTER TABLE gatehouse.deliveries DETACH PARTITION gatehouse.${old} CONCURRENTLY`);
  await dropOldDays(door.pool, 1, log);
  t.is(await door.past(), 1);
});

test('no delivery waits for a day that cannot be dropped while a report reads', async (t) => {
  await using door = await openDays(3);
  const watcher = openPool(door.databaseUrl);
  const reader = await watcher.connect();
  await reader.query('BEGIN; SELECT count(*) FROM gatehouse.deliveries');
  const dropped = dropOldDays(door.pool, 1, log);
  await until(async () => (await watcher.query(`SELECT ${WAITING_FOR_A_LOCK}`)).rowCount !== 0);
  const answers = await Promise.all(Array.from({ length: 50 }, () => door.inbox.accept(delivery())));
  t.true(answers.every(({ outcome }) => outcome === 'accepted'));
  // As its statement_timeout would.
  await watcher.query(`SELECT pg_cancel_backend(pid) ${WAITING_FOR_A_LOCK}`);
  await dropped;
  t.is(await door.past(), 3, 'it is still read');
  await reader.query('ROLLBACK');
  reader.release();
  await watcher.end();
  await dropOldDays(door.pool, 1, log);
  t.is(await door.past(), 1);
});
