import type { ExecutionContext } from 'ava';
import type pg from 'pg';
import { PgBoss } from 'pg-boss';
import packageJson from 'pg-boss/package.json' with { type: 'json' };
import { connectEngine, engineDatabase, refuseOtherEngine } from '../../src/jobs/queue/engine.ts';
import { holdJob } from '../../src/jobs/queue/hold-job.ts';
import { dueQueues, ENGINE_SCHEMA, makeTaker } from '../../src/jobs/queue/take-job.ts';
import { makeLog } from '../../src/log.ts';
import { openMigratedDatabase } from '../helpers/database.ts';
import { rowsRead } from '../helpers/rows-read.ts';
import test from '../helpers/test.ts';

const log = makeLog('silent');

async function openEngine(t: ExecutionContext) {
  const pool = await openMigratedDatabase(t);
  const boss = connectEngine(pool, log);
  t.teardown(() => boss.stop({ graceful: false }));
  await boss.start();
  const send = (number: number) =>
    boss.send('review', { repository: 'acme/widgets', number }, { singletonKey: `acme/widgets#${number}` });
  const take = async () => (await makeTaker(pool)('review')) ?? t.fail('there is no job to take');
  return { pool, boss, send, take };
}

/** A row of the engine's table, except what differs from job to job. */
async function rowOf(pool: pg.Pool, id: string) {
  const { rows } = await pool.query(
    `SELECT to_jsonb(job) - '{id,data,singleton_key,created_on,start_after,keep_until,started_on,heartbeat_on}'::text[]
              AS same, started_on = heartbeat_on AND started_on >= created_on AS "justStarted"
       FROM gatehouse_jobs.job WHERE id = $1`,
    [id],
  );
  return rows[0];
}

test('a worker takes jobs from one version of the engine’s schema only', async (t) => {
  const { pool } = await openEngine(t);
  t.is(packageJson.pgboss.schema, ENGINE_SCHEMA, 'read what the new version of pg-boss does when it takes a job');
  await t.notThrowsAsync(refuseOtherEngine(pool));
  await pool.query('UPDATE gatehouse_jobs.version SET version = version + 1');
  await t.throwsAsync(refuseOtherEngine(pool), { message: /it is version 44, not 43; run gatehouse migrate of this/ });
  await pool.query('DROP SCHEMA gatehouse_jobs CASCADE');
  await t.throwsAsync(refuseOtherEngine(pool), { message: /takes no jobs: there is none;/ });
});

/** What our statements read and write of the engine's tables, as PostgreSQL describes it. */
const RELIED_ON = {
  job_common: {
    id: 'uuid',
    name: 'text',
    priority: 'integer',
    data: 'jsonb',
    state: 'gatehouse_jobs.job_state',
    retry_limit: 'integer',
    retry_count: 'integer',
    start_after: 'timestamp with time zone',
    created_on: 'timestamp with time zone',
    started_on: 'timestamp with time zone',
    heartbeat_on: 'timestamp with time zone',
    expire_seconds: 'integer',
    singleton_key: 'text',
    policy: 'text',
    blocked: 'boolean',
    source_name: 'text',
    source_output: 'jsonb',
  },
  queue: { name: 'text', failed_count: 'integer' },
  version: { version: 'integer' },
} as const;

test('the engine’s tables have the columns and states that our statements rely on', async (t) => {
  const { pool } = await openEngine(t);
  const { rows } = await pool.query<{ table: string; columns: object }>(
    `SELECT relname AS table, jsonb_object_agg(attname, format_type(atttypid, atttypmod)) AS columns
       FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid AND attnum > 0 AND NOT attisdropped
      WHERE relnamespace = 'gatehouse_jobs'::regnamespace GROUP BY relname`,
  );
  for (const [table, columns] of Object.entries(RELIED_ON)) {
    t.like(rows.find((row) => row.table === table)?.columns, columns, table);
  }
  const { rows: states } = await pool.query(`SELECT enum_range(NULL::gatehouse_jobs.job_state)::text[] AS states`);
  t.deepEqual(states[0].states, ['created', 'retry', 'active', 'completed', 'cancelled', 'failed']);
  const { rows: tables } = await pool.query('SELECT DISTINCT table_name, policy FROM gatehouse_jobs.queue ORDER BY 2');
  t.deepEqual(tables, [
    { table_name: 'job_common', policy: 'standard' },
    { table_name: 'job_common', policy: 'stately' },
  ]);
});

test('a job that was taken is to the engine as if it had taken it itself', async (t) => {
  const { pool, boss, send, take } = await openEngine(t);
  const its = new PgBoss({ db: engineDatabase(pool), schema: 'gatehouse_jobs', migrate: false, supervise: false });
  t.teardown(() => its.stop({ graceful: false }));
  await its.start();
  for (const attempt of [0, 1]) {
    await send(1);
    const [engines] = await its.fetch('review');
    await send(2);
    const ours = await take();
    t.is(ours.retryCount, attempt);
    t.deepEqual(await rowOf(pool, ours.id), await rowOf(pool, engines?.id ?? ''));
    for (const id of [ours.id, engines?.id ?? '']) {
      await boss.fail('review', id, { message: 'the same' });
    }
    await pool.query('UPDATE gatehouse_jobs.job SET start_after = now()');
  }
});

test('a job of a key that runs waits, and those behind it do not', async (t) => {
  const { send, take, boss } = await openEngine(t);
  await send(1);
  const first = await take();
  await send(1);
  await send(2);
  t.like(await take(), { data: { number: 2 } });
  await boss.complete('review', [first]);
  t.like(await take(), { data: { number: 1 } });
});

test('of two jobs of a key that are taken at once, one waits', async (t) => {
  const { pool, send, take, boss } = await openEngine(t);
  await send(1);
  await boss.fail('review', (await take()).id);
  await send(1);
  await pool.query('UPDATE gatehouse_jobs.job SET start_after = now()');
  // Each sees none of the key that runs, until the other has committed.
  const other = await pool.connect();
  await other.query(`BEGIN; UPDATE gatehouse_jobs.job SET state = 'active' WHERE state = 'retry'`);
  const taking = makeTaker(pool)('review');
  await other.query('SELECT pg_sleep(0.2)');
  await other.query('COMMIT');
  other.release();
  t.is(await taking, undefined);
});

test('a job that another worker has taken over is told to end, and is not completed', async (t) => {
  const { pool, boss, send, take } = await openEngine(t);
  await send(1);
  const taken = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const held = holdJob(
    { engine: boss, log, heartbeatMs: 10 },
    await take(),
    ({ signal }) => {
      signal.addEventListener('abort', () => ended.resolve());
      taken.resolve();
      return ended.promise;
    },
    new AbortController().signal,
  );
  await taken.promise;
  await pool.query('UPDATE gatehouse_jobs.job SET retry_count = retry_count + 1');
  await held;
  const { rows } = await pool.query('SELECT state FROM gatehouse_jobs.job');
  t.deepEqual(rows, [{ state: 'active' }]);
});

test('a job that is abandoned, or takes too long, is tried again', async (t) => {
  const { pool, boss, send, take } = await openEngine(t);
  const never = () => new Promise<void>(() => {});
  const endOf = async (number: number, expireInSeconds: number, abandon: AbortSignal) => {
    await send(number);
    const job = await take();
    await holdJob({ engine: boss, log }, { ...job, expireInSeconds }, never, abandon);
    const sql = `SELECT state, output->>'message' AS reason FROM gatehouse_jobs.job WHERE id = $1`;
    return (await pool.query(sql, [job.id])).rows;
  };
  t.deepEqual(await endOf(1, 600, AbortSignal.abort()), [
    { state: 'retry', reason: 'the worker stopped while the job ran' },
  ]);
  t.deepEqual(await endOf(2, 0.05, new AbortController().signal), [
    { state: 'retry', reason: 'the job ran for longer than 0.05 s' },
  ]);
});

test('of all queues only the one with a due job is named, and few rows are read', async (t) => {
  const { pool } = await openEngine(t);
  const addJobs = (queue: string, state: string, count: number, startAfter: string) =>
    pool.query(
      `INSERT INTO gatehouse_jobs.job (name, state, policy, singleton_key, start_after)
       SELECT $1, $2::gatehouse_jobs.job_state, 'stately', i, now() + $4::interval FROM generate_series(1, $3) AS i`,
      [queue, state, count, startAfter],
    );
  for (const queue of ['review', 'command', 'push']) {
    await addJobs(queue, 'completed', 5_000, '-1 hour');
    await addJobs(queue, 'created', 5_000, '1 hour');
  }
  await addJobs('push', 'retry', 1, '-1 second');
  await pool.query('ANALYZE gatehouse_jobs.job_common');
  const { result, read } = await rowsRead(pool, 'job_common', dueQueues);
  t.deepEqual(result, ['push']);
  t.true(read < 1_000, `${read} rows were read`);
});
