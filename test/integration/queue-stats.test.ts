import type pg from 'pg';
import { readQueueStats } from '../../src/jobs/queue/queue-stats.ts';
import { QUEUES } from '../../src/jobs/queues.ts';
import { openMigratedDatabase } from '../helpers/database.ts';
import { rowsRead } from '../helpers/rows-read.ts';
import ava from '../helpers/test.ts';

const test = ava.serial;

function addJobs(pool: pg.Pool, state: string, count: number, minutesAgo = 0) {
  return pool.query(
    `INSERT INTO gatehouse_jobs.job (name, state, policy, singleton_key, start_after)
     SELECT 'review', $1::gatehouse_jobs.job_state, 'stately', $1::text || i, now() - make_interval(mins => $3) FROM generate_series(1, $2) AS i`,
    [state, count, minutesAgo],
  );
}

const isDue = (pool: pg.Pool) => pool.query('UPDATE gatehouse.queue_counts SET counted_at = now() - interval $$10 s$$');

async function reviewStats(pool: pg.Pool) {
  return (await readQueueStats(pool, QUEUES))?.find(({ queue }) => queue === 'review');
}

test('waiting and active jobs are counted, and the age of the oldest that is due', async (t) => {
  const pool = await openMigratedDatabase(t);
  await addJobs(pool, 'created', 3, 2);
  await addJobs(pool, 'retry', 2, -5);
  await addJobs(pool, 'active', 4, 60);
  await addJobs(pool, 'completed', 5, 60);
  const { oldestWaitingSeconds, ...counts } = (await reviewStats(pool)) ?? { oldestWaitingSeconds: 0 };
  t.deepEqual(counts, { queue: 'review', waiting: 5, active: 4, failed: 0 });
  t.true(oldestWaitingSeconds >= 120 && oldestWaitingSeconds < 3_600, `${oldestWaitingSeconds} s`);
  t.is((await readQueueStats(pool, QUEUES))?.length, Object.keys(QUEUES).length + 1);
});

test('counting the queues does not read finished jobs', async (t) => {
  const pool = await openMigratedDatabase(t);
  await addJobs(pool, 'completed', 20_000);
  await addJobs(pool, 'created', 10);
  await pool.query('ANALYZE gatehouse_jobs.job_common');
  const { result, read } = await rowsRead(pool, 'job_common', (client) => readQueueStats(client, QUEUES));
  t.is(result?.find(({ queue }) => queue === 'review')?.waiting, 10);
  t.true(read < 1_000, `${read} rows were read`);
});

test('processes share one count until the next is due', async (t) => {
  const pool = await openMigratedDatabase(t);
  t.is((await reviewStats(pool))?.waiting, 0);
  await addJobs(pool, 'created', 1);
  t.is((await reviewStats(pool))?.waiting, 0);
  await isDue(pool);
  t.is((await reviewStats(pool))?.waiting, 1);
});

test('a process does not wait for another one that counts', async (t) => {
  const pool = await openMigratedDatabase(t);
  await readQueueStats(pool, QUEUES);
  await isDue(pool);
  const other = await pool.connect();
  await other.query('BEGIN; UPDATE gatehouse.queue_counts SET counted_at = now()');
  await addJobs(pool, 'created', 1);
  t.is((await reviewStats(pool))?.waiting, 0, 'the count before');
  await other.query('ROLLBACK');

  await pool.query("UPDATE gatehouse.queue_counts SET counted_at = now() - interval '2 minutes'");
  await other.query('BEGIN; UPDATE gatehouse.queue_counts SET counted_at = now()');
  t.is(await readQueueStats(pool, QUEUES), undefined, 'no count that is two minutes old');
  await other.query('ROLLBACK');
  other.release();
});
