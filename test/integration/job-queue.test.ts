import test, { type ExecutionContext } from 'ava';
import { migrateStores } from '../../src/composition/migrate-stores.ts';
import { textDigest } from '../../src/forges/command.ts';
import { makeJobQueue } from '../../src/jobs/engine.ts';
import { knownComments } from '../../src/jobs/override-comments.ts';
import { makeLog } from '../../src/log.ts';
import { makeDatabase, openPool } from '../helpers/database.ts';

async function makePool(t: ExecutionContext) {
  const database = await makeDatabase();
  await migrateStores(database.url);
  const pool = openPool(database.url);
  t.teardown(async () => {
    await pool.end();
    await database.drop();
  });
  return pool;
}

test('a stopped job queue is never started again by a late check', async (t) => {
  const pool = await makePool(t);
  const stopped = makeJobQueue(pool, makeLog('silent'));
  await stopped.stop();
  t.regex((await stopped.fault()) ?? 'it has started', /cannot use its schema/);
  const running = makeJobQueue(pool, makeLog('silent'));
  t.is(await running.fault(), undefined);
  await running.stop();
});

test('an edit of an override is never recorded later than its delivery', async (t) => {
  const pool = await makePool(t);
  const jobs = makeJobQueue(pool, makeLog('silent'));
  const repository = 'octo/site';
  const digest = textDigest('/gatehouse override of-the-repository');
  const command = { kind: 'command', repository, number: 7, command: 'override', author: 'lea', digest } as const;
  const posted = { kind: 'as-posted', digest };
  const known = async () => Object.fromEntries((await knownComments(pool, repository, ['10', '9', '8'])).posted);
  // No worker runs.
  await jobs.enqueue([
    { ...command, commentId: '9', change: 'posted' },
    { ...command, commentId: '10', change: 'posted' },
    { ...command, commentId: '8', change: 'deleted' },
  ]);
  t.deepEqual(await known(), { 9: posted, 10: posted });
  await jobs.enqueue([{ ...command, commentId: '10', change: 'edited' }]);
  await jobs.enqueue([{ ...command, commentId: '10', change: 'posted' }]);
  t.deepEqual(await known(), { 9: posted, 10: { kind: 'edited' } });
  await jobs.stop();
});
