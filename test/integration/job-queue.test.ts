import test from 'ava';
import { migrateStores } from '../../src/composition/migrate-stores.ts';
import { makeJobQueue } from '../../src/jobs/engine.ts';
import { makeLog } from '../../src/log.ts';
import { makeDatabase, openPool } from '../helpers/database.ts';

test('a stopped job queue is never started again by a late check', async (t) => {
  const database = await makeDatabase();
  await migrateStores(database.url);
  const pool = openPool(database.url);
  t.teardown(async () => {
    await pool.end();
    await database.drop();
  });
  const stopped = makeJobQueue(pool, makeLog('silent'));
  await stopped.stop();
  t.regex((await stopped.fault()) ?? 'it has started', /cannot use its schema/);
  const running = makeJobQueue(pool, makeLog('silent'));
  t.is(await running.fault(), undefined);
  await running.stop();
});
