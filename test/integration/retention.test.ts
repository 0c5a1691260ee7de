import type { ExecutionContext } from 'ava';
import type pg from 'pg';
import { applyRetention } from '../../src/jobs/retention.ts';
import { beginReview, deleteReview } from '../../src/jobs/tables/reviews.ts';
import { makeLog } from '../../src/log.ts';
import { openMigratedDatabase } from '../helpers/database.ts';
import ava from '../helpers/test.ts';

const test = ava.serial;

/** Keys of deliveries, so many of them a second or more older than the eight days for which they are kept. */
async function openWithKeys(t: ExecutionContext, old: number): Promise<pg.Pool> {
  const pool = await openMigratedDatabase(t);
  await pool.query(
    `INSERT INTO gatehouse.delivery_keys (hook_id, delivery_id, received_at, body_sha256)
     SELECT '', 'old ' || i, now() - interval '8 days' - make_interval(secs => i), ''::bytea FROM generate_series(1, $1) AS i
     UNION ALL
     SELECT '', 'young ' || i, now() - interval '8 days' + make_interval(hours => i), ''::bytea FROM generate_series(1, 3) AS i`,
    [old],
  );
  return pool;
}

const left = (pool: pg.Pool) => columnOf(pool, 'delivery_id', 'delivery_keys ORDER BY received_at');

/** The values of one column, in the order that the rest of the query gives. */
async function columnOf(pool: pg.Pool, column: string, rest: string): Promise<readonly string[]> {
  const { rows } = await pool.query<{ value: string }>(`SELECT ${column} AS value FROM gatehouse.${rest}`);
  return rows.map(({ value }) => value);
}

function retain(pool: pg.Pool, days = 30, signal = new AbortController().signal) {
  return applyRetention({ pool, days, log: makeLog('silent'), signal });
}

const YOUNG = ['young 1', 'young 2', 'young 3'];

test('a delivery key is kept for eight days, however short deliveries are kept', async (t) => {
  const pool = await openWithKeys(t, 1_000);
  for (const round of ['first', 'second']) {
    t.is(await retain(pool, 1), 'finished', round);
    t.deepEqual(await left(pool), YOUNG);
  }
});

test('retention that is stopped has deleted the oldest keys, and is unfinished', async (t) => {
  const pool = await openWithKeys(t, 1_000);
  const stop = new AbortController();
  const { query } = pool;
  Object.assign(pool, {
    query: (...statement: unknown[]) => {
      stop.abort();
      return Reflect.apply(query, pool, statement);
    },
  });
  t.is(await retain(pool, 30, stop.signal), 'unfinished');
  const ids = await left(pool);
  t.deepEqual([ids.length, ids[0], ids.at(-1)], [803, 'old 800', 'young 3']);
});

test('two retentions at once delete each key once', async (t) => {
  const pool = await openWithKeys(t, 2_000);
  await Promise.all([retain(pool), retain(pool)]);
  t.deepEqual(await left(pool), YOUNG);
});

test('what is known of old comments is kept as long as their pull request is open', async (t) => {
  const pool = await openMigratedDatabase(t);
  await pool.query(
    `INSERT INTO gatehouse.override_comments (repository, pull_request, comment_id, seen_at)
     VALUES ('o/r', 1, 'open', now() - interval '2 years'), ('o/r', 2, 'closed', now() - interval '2 years'),
            ('o/r', 2, 'young', now() - interval '1 year')`,
  );
  await pool.query(
    "INSERT INTO gatehouse.reviews (repository, pull_request, head_sha, description) VALUES ('o/r', 1, 'x', '')",
  );
  t.is(await retain(pool), 'finished');
  t.deepEqual(await columnOf(pool, 'comment_id', 'override_comments ORDER BY 1'), ['open', 'young']);
});

test('who made a change is kept while it is open, and for a while after it was closed', async (t) => {
  const pool = await openMigratedDatabase(t);
  await pool.query(
    `INSERT INTO gatehouse.makers (repository, pull_request, base_branch, login, seen_at)
     SELECT 'o/r', number, 'main', login, now() - make_interval(days => age)
       FROM (VALUES (1, 'open', 99), (2, 'closed now', 99), (3, 'closed long ago', 31), (3, 'closed', 29), (0, 'branch', 31))
         AS maker (number, login, age)`,
  );
  await beginReview(pool, { repository: 'o/r', number: 1 });
  const { claim } = await beginReview(pool, { repository: 'o/r', number: 2 });
  await deleteReview(pool, claim);
  t.is(await retain(pool), 'finished');
  t.deepEqual(await columnOf(pool, 'login', 'makers ORDER BY 1'), ['closed', 'closed now', 'open']);
});
