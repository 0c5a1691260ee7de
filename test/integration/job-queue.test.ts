import type pg from 'pg';
import { makeInboxPool } from '../../src/db/pool.ts';
import { pullRequestOf } from '../../src/facts/pull-request.ts';
import { textDigest } from '../../src/forges/port/command.ts';
import type { ReviewRequest } from '../../src/forges/port/review-requests.ts';
import { makeInbox } from '../../src/inbox/inbox.ts';
import { makeStoringHealth } from '../../src/inbox/storing-health.ts';
import { attempt } from '../../src/jobs/attempt.ts';
import { connectEngine, makeJobQueue } from '../../src/jobs/queue/engine.ts';
import type { Jobs } from '../../src/jobs/queue/queue.ts';
import { makeReplay } from '../../src/jobs/queue/replay.ts';
import { makeTaker } from '../../src/jobs/queue/take-job.ts';
import { QUEUES } from '../../src/jobs/queues.ts';
import { makersIn } from '../../src/jobs/tables/makers.ts';
import { recordedComments, recordStatements } from '../../src/jobs/tables/override-comments.ts';
import { makeLog } from '../../src/log.ts';
import { makeMetrics } from '../../src/metrics.ts';
import { makeMigratedDatabase, openMigratedDatabase, openPool } from '../helpers/database.ts';
import { delivery } from '../helpers/inbox.ts';
import { PATIENCE } from '../helpers/patience.ts';
import test from '../helpers/test.ts';

test('a stopped job queue is never started again by a late check', async (t) => {
  const pool = await openMigratedDatabase(t);
  const stopped = makeJobQueue(pool, QUEUES, makeLog('silent'));
  await stopped.stop();
  t.regex((await stopped.fault()) ?? 'it has started', /cannot use its schema/);
  const running = makeJobQueue(pool, QUEUES, makeLog('silent'));
  t.is(await running.fault(), undefined);
  await running.stop();
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
  const database = await makeMigratedDatabase();
  const [pool, inboxPool] = [openPool(database.url), makeInboxPool(database.url, makeLog('silent'), PATIENCE)];
  t.teardown(async () => {
    await Promise.all([pool.end(), inboxPool.end()]);
    await database.drop();
  });
  const jobs = makeJobQueue(pool, QUEUES, makeLog('silent'));
  const inbox = makeInbox<ReviewRequest>({
    pool: inboxPool,
    jobStatements: jobs.statements,
    // No worker runs.
    wakeWorkers: () => {},
    storing: makeStoringHealth(() => {}),
    metrics: makeMetrics(),
    log: makeLog('silent'),
    patience: PATIENCE,
  });
  const accept = (...requests: readonly ReviewRequest[]) =>
    Promise.all(requests.map((job) => inbox.accept({ ...delivery(), job })));
  // The first goes alone, the others in one transaction.
  await accept(command('8', 'deleted'), command('10', 'posted'), command('9', 'posted'));
  t.deepEqual(await known(pool), { 9: posted, 10: posted });
  await accept(command('8', 'posted'), command('10', 'edited'), command('9', 'posted'), command('10', 'posted'));
  t.deepEqual(await known(pool), { 8: posted, 9: posted, 10: edited });
  await inbox.idle();
  await jobs.stop();
});

test('a review adds what was told of pushes, and locks nothing that it has', async (t) => {
  const pool = await openMigratedDatabase(t);
  const jobs = makeJobQueue(pool, QUEUES, makeLog('silent'));
  t.teardown(() => jobs.stop());
  const moved = { repositoryId: '1', isDefault: false, count: 1, isForced: false };
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
  const pool = await openMigratedDatabase(t);
  const jobs = makeJobQueue(pool, QUEUES, makeLog('silent'));
  t.teardown(() => jobs.stop());
  const moved = { repositoryId: '1', isDefault: false, count: 1, isForced: false };
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
