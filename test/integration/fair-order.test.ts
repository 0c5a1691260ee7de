import test, { type ExecutionContext } from 'ava';
import { PgBoss } from 'pg-boss';
import { engineDatabase, makeJobQueue } from '../../src/jobs/queue/engine.ts';
import { makeFairOrder } from '../../src/jobs/queue/fair-order.ts';
import { QUEUES } from '../../src/jobs/queues.ts';
import { makeLog } from '../../src/log.ts';
import { makeMigratedDatabase, openPool } from '../helpers/database.ts';

/** A queue of reviews, oldest first, and what takes them as a slot of a worker does. */
async function waiting(t: ExecutionContext, repositories: readonly string[]) {
  const database = await makeMigratedDatabase();
  t.teardown(() => database.drop());
  const pool = openPool(database.url);
  t.teardown(() => pool.end());
  const jobs = makeJobQueue(pool, QUEUES, makeLog('silent'));
  t.teardown(() => jobs.stop());
  const boss = new PgBoss({ db: engineDatabase(pool), schema: 'gatehouse_jobs', migrate: false, supervise: false });
  t.teardown(() => boss.stop({ graceful: false }));
  await boss.start();
  for (const [number, repository] of repositories.entries()) {
    await jobs.enqueue([{ kind: 'review', repository, number }]);
  }
  return async () => {
    const [job] = await boss.fetch<{ readonly repository: string }>('review', { groupConcurrency: 1 });
    if (job === undefined) {
      throw new Error('there is no job to take');
    }
    return { repository: job.data.repository, end: () => boss.complete('review', job.id) };
  };
}

const FLOOD = Array.from({ length: 12 }, () => 'acme/flooded');

test('twelve pull requests of one repository never keep another owner waiting', async (t) => {
  const take = await waiting(t, [...FLOOD, 'acme/widgets', 'octo/site', 'octo/site']);
  const taken: string[] = [];
  for (let slot = 0; slot < 6; slot++) {
    taken.push((await take()).repository);
  }
  t.deepEqual(taken, ['acme/flooded', 'octo/site', 'acme/widgets', 'octo/site', 'acme/flooded', 'acme/flooded']);
});

test('a repository takes all slots while no other has work', async (t) => {
  const take = await waiting(t, FLOOD);
  for (let slot = 0; slot < 12; slot++) {
    t.is((await take()).repository, 'acme/flooded');
  }
});

test('with one slot, owners take turns, and so do their repositories', async (t) => {
  const take = await waiting(t, [...FLOOD, 'evil/a', 'evil/a', 'evil/a', 'octo/site', 'Acme/widgets']);
  const taken: string[] = [];
  for (let slot = 0; slot < 7; slot++) {
    const { repository, end } = await take();
    taken.push(repository);
    await end();
  }
  t.deepEqual(taken, ['acme/flooded', 'evil/a', 'octo/site', 'Acme/widgets', 'evil/a', 'acme/flooded', 'evil/a']);
});

test('a job engine that takes jobs by another statement is an error', (t) => {
  const { apply } = makeFairOrder();
  const other = "SELECT id FROM job j WHERE j.name = 'review' ORDER BY j.created_on FOR UPDATE OF j SKIP LOCKED";
  t.throws(() => apply(other, []), { message: /takes jobs in an order that is not known/ });
  t.is(apply('SELECT 1', [7]), undefined);
});
