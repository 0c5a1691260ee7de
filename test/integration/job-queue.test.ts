import type { ExecutionContext } from 'ava';
import type pg from 'pg';
import { makeInboxPool } from '../../src/db/pool.ts';
import { pullRequestOf } from '../../src/facts/pull-request.ts';
import { textDigest } from '../../src/forges/port/command.ts';
import type { ReviewRequest } from '../../src/forges/port/review-requests.ts';
import { attempt } from '../../src/jobs/attempt.ts';
import { connectEngine, makeJobQueue } from '../../src/jobs/queue/engine.ts';
import type { Jobs } from '../../src/jobs/queue/queue.ts';
import { readQueueStats } from '../../src/jobs/queue/queue-stats.ts';
import { makeReplay } from '../../src/jobs/queue/replay.ts';
import { dueQueues, makeTaker } from '../../src/jobs/queue/take-job.ts';
import { QUEUES } from '../../src/jobs/queues.ts';
import { reviewsThatDependOn } from '../../src/jobs/resync/judged-reviews.ts';
import { makersIn } from '../../src/jobs/tables/makers.ts';
import { recordedComments, recordStatements } from '../../src/jobs/tables/override-comments.ts';
import { beginReview, recordHead } from '../../src/jobs/tables/reviews.ts';
import { makeLog } from '../../src/log.ts';
import { makeOpenDatabase, openMigratedDatabase } from '../helpers/database.ts';
import { delivery, inboxOn } from '../helpers/inbox.ts';
import { PATIENCE } from '../helpers/patience.ts';
import { rowsRead } from '../helpers/rows-read.ts';
import test from '../helpers/test.ts';

const moved = { repositoryId: '1', isDefault: false, count: 1, isForced: false };

/** A queue that stops with its test. */
async function openQueue(t: ExecutionContext) {
  const pool = await openMigratedDatabase(t);
  const jobs = makeJobQueue(pool, QUEUES, makeLog('silent'));
  t.teardown(() => jobs.stop());
  return { pool, jobs };
}

test('a stopped job queue is never started again by a late check', async (t) => {
  const { pool, jobs } = await openQueue(t);
  const stopped = makeJobQueue(pool, QUEUES, makeLog('silent'));
  await stopped.stop();
  t.regex((await stopped.fault()) ?? 'it has started', /cannot use its schema/);
  t.is(await jobs.fault(), undefined);
});

const repository = 'octo/site';
const digest = textDigest('/gatehouse override of-the-repository');
const posted = { kind: 'as-posted', digest };
const edited = { kind: 'edited' };

function command(commentId: string, change: Jobs['command']['change']) {
  return {
    kind: 'command',
    repository,
    number: 7,
    command: 'override',
    author: 'lea',
    digest,
    commentId,
    change,
  } as const;
}

async function known(pool: pg.Pool) {
  return Object.fromEntries((await recordedComments(pool, repository, ['10', '9', '8'])).posted);
}

test('an edit of an override is never recorded later than its delivery', async (t) => {
  const { url, pool } = await makeOpenDatabase(t);
  const inboxPool = makeInboxPool(url, makeLog('silent'), PATIENCE);
  const jobs = makeJobQueue(pool, QUEUES, makeLog('silent'));
  const inbox = inboxOn<ReviewRequest>(inboxPool, jobs.statements);
  t.teardown(async () => {
    await inbox.idle();
    await jobs.stop();
    await inboxPool.end();
  });
  const accept = (...requests: readonly ReviewRequest[]) =>
    Promise.all(requests.map((job) => inbox.accept({ ...delivery(), job })));
  // The first goes alone, the others in one transaction.
  await accept(command('8', 'deleted'), command('10', 'posted'), command('9', 'posted'));
  t.deepEqual(await known(pool), { 9: posted, 10: posted });
  await accept(command('8', 'posted'), command('10', 'edited'), command('9', 'posted'), command('10', 'posted'));
  t.deepEqual(await known(pool), { 8: posted, 9: posted, 10: edited });
});

test('a review adds what was told of pushes, and locks nothing that it has', async (t) => {
  const { pool, jobs } = await openQueue(t);
  const pullRequest = pullRequestOf({});
  const { repository, head } = pullRequest;
  const tell = (before: string | undefined) =>
    jobs.enqueue([{ kind: 'push', repository, branch: 'topic', before, after: head.sha, by: 'bob', ...moved }]);
  const from = async () =>
    (await makersIn(pool).pushes(pullRequest, [head.sha])).flatMap((push) => (push.by === 'bob' ? [push.from] : []));
  await tell(undefined);
  t.deepEqual(await from(), [null]);
  await tell('a');
  t.deepEqual(await from(), ['a']);
  await tell('b');
  t.deepEqual(await from(), ['']);
  const rows = 'SELECT xmin::text, xmax::text FROM gatehouse.makers WHERE pull_request > 0 ORDER BY sha, login';
  const before = (await pool.query(rows)).rows;
  t.deepEqual(await from(), ['']);
  t.deepEqual((await pool.query(rows)).rows, before);
});

test('pushes are recorded with their deliveries, once each', async (t) => {
  const { pool, jobs } = await openQueue(t);
  const pushed = (sha: string, by?: string): ReviewRequest => ({
    kind: 'review',
    repository,
    number: 7,
    pushed: { sha, repository, from: undefined, by },
  });
  const branch = { kind: 'push', repository, branch: 'topic', before: 'a', after: 'b', by: 'Bob', ...moved } as const;
  await jobs.enqueue([pushed('c', 'BOB'), pushed('b'), pushed('b', 'bob'), pushed('c', 'bob')]);
  await jobs.enqueue([branch, branch, { kind: 'review', repository, number: 8 }]);
  const elsewhere = { sha: 'd', from: undefined, by: 'eve' };
  await jobs.enqueue([
    { kind: 'review', repository, number: 9, pushed: elsewhere },
    { kind: 'review', repository, number: 9, pushed: { ...elsewhere, sha: 'e', repository: 'eve/fork' } },
    { ...branch, before: 'x', after: 'f' },
    { ...branch, before: 'y', after: 'f' },
  ]);
  await jobs.enqueue([{ ...branch, before: 'z' }]);
  const { rows } = await pool.query(
    'SELECT pull_request, sha, login, pushed_from FROM gatehouse.makers WHERE repository = $1 ORDER BY 1, 2, 3',
    [repository],
  );
  t.deepEqual(rows, [
    { pull_request: 0, sha: 'b', login: '', pushed_from: null },
    { pull_request: 0, sha: 'b', login: 'bob', pushed_from: '' },
    { pull_request: 0, sha: 'c', login: 'bob', pushed_from: null },
    { pull_request: 0, sha: 'f', login: 'bob', pushed_from: '' },
    { pull_request: 7, sha: 'b', login: '', pushed_from: null },
    { pull_request: 7, sha: 'b', login: 'bob', pushed_from: null },
    { pull_request: 7, sha: 'c', login: 'bob', pushed_from: null },
    { pull_request: 9, sha: 'd', login: 'eve', pushed_from: null },
    { pull_request: 9, sha: 'e', login: 'eve', pushed_from: null },
  ]);
  // A job says whom it concerns, and nothing else.
  const { rows: data } = await pool.query(
    "SELECT data FROM gatehouse_jobs.job WHERE name = 'review' ORDER BY singleton_key",
  );
  t.deepEqual(
    data.map((row) => row.data),
    [
      { repository, number: 7 },
      { repository, number: 8 },
      { repository, number: 9 },
    ],
  );
});

test('a replayed edit of an override is recorded with its job', async (t) => {
  const pool = await openMigratedDatabase(t);
  const replay = makeReplay(pool, QUEUES, makeLog('silent'));
  t.is(await replay.requeue(command('9', 'edited')), 'queued');
  await replay.stop();
  t.deepEqual(await known(pool), { 9: edited });
});

test('changes of overrides are recorded in one order, as other transactions do', (t) => {
  const ids = (...requests: readonly ReviewRequest[]) => recordStatements(requests).map(({ values }) => values?.[2]);
  const [first, second] = [command('1', 'posted'), command('2', 'edited')];
  t.deepEqual(ids(second, first), ['1', '2']);
  t.deepEqual(ids(first, second), ['1', '2']);
  t.deepEqual(ids({ kind: 'review', repository, number: 7 }, command('3', 'deleted')), []);
});

test('a success never deletes the dead letter of another queue with the same key', async (t) => {
  const pool = await openMigratedDatabase(t);
  const log = makeLog('silent');
  const boss = connectEngine(pool, log);
  await boss.start();
  t.teardown(() => boss.stop({ graceful: false }));
  const key = 'octo/site#7';
  for (const queue of ['review', 'review-repository']) {
    await pool.query(
      `INSERT INTO gatehouse_jobs.job (name, data, singleton_key, source_name) VALUES ('review-dead-letters', '{}', $1, $2)`,
      [key, queue],
    );
  }
  await boss.send('review', { repository, number: 7 }, { singletonKey: key });
  const job = await makeTaker(pool)('review');
  if (job === undefined) {
    throw new Error('the job was not fetched');
  }
  const access = { current: () => undefined, check: async () => undefined, stop: () => {} };
  await attempt({ boss, pool, access, log }, job, { key, needsForge: true, run: async () => {} });
  const { rows } = await pool.query(
    `SELECT source_name AS queue FROM gatehouse_jobs.job WHERE name = 'review-dead-letters'`,
  );
  t.deepEqual(rows, [{ queue: 'review-repository' }]);
});

function addJobs(pool: pg.Pool, state: string, count: number, { minutesAgo = 0, queue = 'review' } = {}) {
  return pool.query(
    `INSERT INTO gatehouse_jobs.job (name, state, policy, singleton_key, start_after)
     SELECT $4, $1::gatehouse_jobs.job_state, 'stately', $1::text || i, now() - make_interval(mins => $3) FROM generate_series(1, $2) AS i`,
    [state, count, minutesAgo, queue],
  );
}

const countedAt = (time: string) => `UPDATE gatehouse.progress SET done_until = ${time} WHERE task = 'count-queues'`;
const isDue = (pool: pg.Pool) => pool.query(countedAt("now() - interval '10 s'"));

async function reviewStats(pool: pg.Pool) {
  return (await readQueueStats(pool, QUEUES))?.find(({ queue }) => queue === 'review');
}

test('waiting and active jobs are counted, and the age of the oldest that is due', async (t) => {
  const pool = await openMigratedDatabase(t);
  await addJobs(pool, 'created', 3, { minutesAgo: 2 });
  await addJobs(pool, 'retry', 2, { minutesAgo: -5 });
  await addJobs(pool, 'active', 4, { minutesAgo: 60 });
  await addJobs(pool, 'completed', 5, { minutesAgo: 60 });
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
  await other.query(`BEGIN; ${countedAt('now()')}`);
  await addJobs(pool, 'created', 1);
  t.is((await reviewStats(pool))?.waiting, 0, 'the count before');
  await other.query('ROLLBACK');

  await pool.query(countedAt("now() - interval '2 minutes'"));
  await other.query(`BEGIN; ${countedAt('now()')}`);
  t.is(await readQueueStats(pool, QUEUES), undefined, 'no count that is two minutes old');
  await other.query('ROLLBACK');
  other.release();
});

test('of all queues only the one with a due job is named, and few rows are read', async (t) => {
  const pool = await openMigratedDatabase(t);
  for (const queue of ['review', 'command', 'push']) {
    await addJobs(pool, 'completed', 5_000, { queue, minutesAgo: 60 });
    await addJobs(pool, 'created', 5_000, { queue, minutesAgo: -60 });
  }
  await addJobs(pool, 'retry', 1, { queue: 'push', minutesAgo: 1 });
  await pool.query('ANALYZE gatehouse_jobs.job_common');
  const { result, read } = await rowsRead(pool, 'job_common', dueQueues);
  t.deepEqual(result, ['push']);
  t.true(read < 1_000, `${read} rows were read`);
});

test('a push never misses a review that runs, even one that has recorded nothing', async (t) => {
  const pool = await openMigratedDatabase(t);
  async function review(number: number, state: string, base?: string) {
    const { claim } = await beginReview(pool, { repository, number });
    if (base !== undefined) {
      const pullRequest = {
        head: { sha: `${number}`.repeat(40) },
        base: { branch: base },
        url: `https://forge.example/${number}`,
        updatedAt: '2026-01-02T03:04:05Z',
      } as Parameters<typeof recordHead>[2];
      await recordHead(pool, claim, pullRequest, { settled: true, keepsVerdict: false });
    }
    await pool.query(
      `INSERT INTO gatehouse_jobs.job (name, singleton_key, policy, data, state)
       VALUES ('review', $1, 'stately', '{}', $2::text::gatehouse_jobs.job_state)`,
      [`${repository}#${number}`, state],
    );
  }
  await review(1, 'active', 'main');
  await review(2, 'created', 'main');
  await review(3, 'active');
  await review(4, 'created');
  await review(5, 'active', 'next');

  const found = await reviewsThatDependOn(pool, repository, 'main');
  t.deepEqual(
    found.map(({ number, isRunning }) => [number, isRunning]),
    [
      [1, true],
      [2, false],
      [3, true],
    ],
  );
});
