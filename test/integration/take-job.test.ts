import type { ExecutionContext } from 'ava';
import type pg from 'pg';
import { PgBoss } from 'pg-boss';
import packageJson from 'pg-boss/package.json' with { type: 'json' };
import { connectEngine, engineDatabase, makeJobQueue, refuseOtherEngine } from '../../src/jobs/queue/engine.ts';
import { holdJob } from '../../src/jobs/queue/hold-job.ts';
import { ENGINE_SCHEMA, makeTaker } from '../../src/jobs/queue/take-job.ts';
import { QUEUES } from '../../src/jobs/queues.ts';
import { makeLog } from '../../src/log.ts';
import { openMigratedDatabase } from '../helpers/database.ts';
import test from '../helpers/test.ts';

const log = makeLog('silent');

/** `slotsLeft`: how many slots of this worker are free. */
async function openEngine(t: ExecutionContext, slotsLeft?: () => number) {
  const pool = await openMigratedDatabase(t);
  const jobs = makeJobQueue(pool, QUEUES, log);
  t.teardown(() => jobs.stop());
  const boss = connectEngine(pool, log);
  t.teardown(() => boss.stop({ graceful: false }));
  await boss.start();
  const send = (number: number, repository = 'acme/widgets') => jobs.enqueue([{ kind: 'review', repository, number }]);
  const takeJob = makeTaker(pool, slotsLeft);
  const take = async () => (await takeJob('review')) ?? t.fail('there is no job to take');
  let number = 0;
  return {
    pool,
    jobs,
    boss,
    send,
    take,
    takeJob,
    /** One review after the other. */
    async sendTo(repositories: readonly string[]) {
      for (const repository of repositories) {
        number += 1;
        await send(number, repository);
      }
    },
    takenFrom: async () => (await takeJob('review'))?.data.repository,
  };
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

test('the states and policies of the engine are those that our statements rely on', async (t) => {
  const { pool } = await openEngine(t);
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

test('the job engine gets the rows of all statements that it sends at once', async (t) => {
  const { pool } = await openEngine(t);
  const { rows } = await engineDatabase(pool).executeSql('BEGIN; SELECT 1 AS n; SELECT 2 AS n; COMMIT');
  t.deepEqual(rows, [{ n: 1 }, { n: 2 }]);
});

test('a taken job tells whether others wait, and whether its key has dead letters', async (t) => {
  const { take, send, pool } = await openEngine(t);
  await send(1);
  await send(2);
  await pool.query(
    `INSERT INTO gatehouse_jobs.job (name, source_name, singleton_key) VALUES ('review-dead-letters', 'review', 'acme/widgets#2')`,
  );
  t.like(await take(), { othersWait: true, hasDeadLetters: false });
  t.like(await take(), { othersWait: false, hasDeadLetters: true });
  await send(3);
  await pool.query(
    `UPDATE gatehouse_jobs.job SET start_after = now() + interval '1 hour' WHERE singleton_key = 'acme/widgets#3'`,
  );
  await send(4);
  t.like(await take(), { othersWait: false, hasDeadLetters: false }, 'one that cannot run yet does not wait');
});

const FLOOD = Array.from({ length: 12 }, () => 'acme/flooded');

for (const { title, waiting, ends, taken } of [
  {
    title: 'twelve pull requests of one repository never keep another owner waiting',
    waiting: [...FLOOD, 'acme/widgets', 'octo/site', 'octo/site'],
    ends: false,
    taken: ['acme/flooded', 'octo/site', 'acme/widgets', 'octo/site', 'acme/flooded', 'acme/flooded'],
  },
  { title: 'a repository takes all slots while no other has work', waiting: FLOOD, ends: false, taken: FLOOD },
  {
    title: 'with one slot, owners take turns, and so do their repositories',
    waiting: [...FLOOD, 'evil/a', 'evil/a', 'evil/a', 'octo/site', 'Acme/widgets'],
    ends: true,
    taken: ['acme/flooded', 'evil/a', 'octo/site', 'Acme/widgets', 'evil/a', 'acme/flooded', 'evil/a'],
  },
]) {
  test(title, async (t) => {
    const { sendTo, take, boss } = await openEngine(t);
    await sendTo(waiting);
    const repositories: string[] = [];
    while (repositories.length < taken.length) {
      const { id, data } = await take();
      repositories.push(data.repository);
      if (ends) {
        await boss.complete('review', id);
      }
    }
    t.deepEqual(repositories, taken);
  });
}

for (const slots of [1, 4]) {
  test(`reviews in all of ${slots} slots never keep another repository waiting`, async (t) => {
    let left = slots;
    const { sendTo, takenFrom } = await openEngine(t, () => left);
    const taken = async () => {
      const repository = await takenFrom();
      left -= repository === undefined ? 0 : 1;
      return repository;
    };
    await sendTo(FLOOD);
    for (let slot = 0; slot < slots; slot++) {
      t.is(await taken(), 'acme/flooded');
    }
    t.is(await taken(), undefined, 'a spare slot is not for more of the same');
    await sendTo(['acme/widgets', 'octo/site']);
    t.is(await taken(), 'octo/site');
    t.is(await taken(), undefined, 'the last one is for an owner without active jobs');
    await sendTo(['evil/a']);
    t.is(await taken(), 'evil/a');
  });
}

test('slots that look at once never take more of one repository than their number', async (t) => {
  let left = 2;
  const { sendTo, takenFrom } = await openEngine(t, () => left);
  await sendTo(FLOOD);
  const first = await Promise.all(Array.from({ length: 4 }, takenFrom));
  t.true(first.filter((repository) => repository !== undefined).length <= 2);
  left = 0;
  t.is(await takenFrom(), undefined);
});

test('however many commands somebody comments, another repository’s is the next', async (t) => {
  const { jobs, boss, takeJob } = await openEngine(t);
  /** Each is a comment of its own, by a stranger. */
  const comment = (repository: string, id: number) =>
    jobs.enqueue([
      {
        kind: 'command',
        repository,
        number: 1,
        command: 'override',
        change: 'posted',
        commentId: String(id),
        author: 'mallory',
        digest: '',
      },
    ]);
  const takeAndEnd = async () => {
    const job = await takeJob('command');
    await boss.complete('command', job?.id ?? '');
    return job?.data.repository;
  };
  for (let id = 0; id < 200; id++) {
    await comment('acme/flooded', id);
  }
  const first = await takeJob('command');
  t.is(first?.data.repository, 'acme/flooded');
  await comment('acme/widgets', 200);
  await comment('octo/site', 201);
  await boss.complete('command', first?.id ?? '');
  t.deepEqual([await takeAndEnd(), await takeAndEnd()], ['octo/site', 'acme/widgets']);
});
