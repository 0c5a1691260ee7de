import type { ExecutionContext } from 'ava';
import type { ReviewRequest } from '../../src/forges/port/review-requests.ts';
import { connectEngine, makeJobQueue } from '../../src/jobs/queue/engine.ts';
import { makeTaker } from '../../src/jobs/queue/take-job.ts';
import { QUEUES } from '../../src/jobs/queues.ts';
import { makeLog } from '../../src/log.ts';
import { openMigratedDatabase } from '../helpers/database.ts';
import test from '../helpers/test.ts';

const requestOf = {
  review: (repository: string, number: number) => ({ kind: 'review', repository, number }) as const,
  /** Each is a comment of its own, by a stranger. */
  command: (repository: string, number: number) =>
    ({
      kind: 'command',
      repository,
      number: 1,
      command: 'override',
      change: 'posted',
      commentId: String(number),
      author: 'mallory',
      digest: '',
    }) as const,
} satisfies Readonly<Record<string, (repository: string, number: number) => ReviewRequest>>;

/** A queue of such jobs, oldest first, and what takes them as a slot of a worker does. */
async function queue(
  t: ExecutionContext,
  repositories: readonly string[],
  slotsLeft?: () => number,
  kind: keyof typeof requestOf = 'review',
) {
  const pool = await openMigratedDatabase(t);
  const jobs = makeJobQueue(pool, QUEUES, makeLog('silent'));
  t.teardown(() => jobs.stop());
  const boss = connectEngine(pool, makeLog('silent'));
  t.teardown(() => boss.stop({ graceful: false }));
  await boss.start();
  let number = 0;
  async function enqueue(names: readonly string[]): Promise<void> {
    for (const repository of names) {
      number += 1;
      await jobs.enqueue([requestOf[kind](repository, number)]);
    }
  }
  const takeJob = makeTaker(pool, slotsLeft);
  async function take() {
    const job = await takeJob(kind);
    return job && { repository: job.data.repository, job, end: () => boss.complete(kind, job.id) };
  }
  await enqueue(repositories);
  return { take, enqueue, pool };
}

/** Where there is always a job. */
async function waiting(t: ExecutionContext, repositories: readonly string[]) {
  const { take } = await queue(t, repositories);
  return async () => (await take()) ?? t.fail('there is no job to take');
}

test('a taken job tells whether others wait, and whether its key has dead letters', async (t) => {
  const { take, enqueue, pool } = await queue(t, ['acme/widgets', 'acme/widgets']);
  await pool.query(
    `INSERT INTO gatehouse_jobs.job (name, source_name, singleton_key) VALUES ('review-dead-letters', 'review', 'acme/widgets#2')`,
  );
  const told = async () => {
    const taken = await take();
    return taken && [taken.job.othersWait, taken.job.hasDeadLetters];
  };
  t.deepEqual(await told(), [true, false]);
  t.deepEqual(await told(), [false, true]);
  await enqueue(['acme/widgets']);
  await pool.query(
    `UPDATE gatehouse_jobs.job SET start_after = now() + interval '1 hour' WHERE singleton_key = 'acme/widgets#3'`,
  );
  await enqueue(['acme/widgets']);
  t.deepEqual(await told(), [false, false], 'one that cannot run yet does not wait');
});

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

for (const slots of [1, 4]) {
  test(`reviews in all of ${slots} slots never keep another repository waiting`, async (t) => {
    let left = slots;
    const { take, enqueue } = await queue(t, FLOOD, () => left);
    const taken = async () => {
      const job = await take();
      left -= job === undefined ? 0 : 1;
      return job?.repository;
    };
    for (let slot = 0; slot < slots; slot++) {
      t.is(await taken(), 'acme/flooded');
    }
    t.is(await taken(), undefined, 'a spare slot is not for more of the same');
    await enqueue(['acme/widgets', 'octo/site']);
    t.is(await taken(), 'octo/site');
    t.is(await taken(), undefined, 'the last one is for an owner without active jobs');
    await enqueue(['evil/a']);
    t.is(await taken(), 'evil/a');
  });
}

test('slots that look at once never take more of one repository than their number', async (t) => {
  let left = 2;
  const { take } = await queue(t, FLOOD, () => left);
  const first = await Promise.all(Array.from({ length: 4 }, take));
  t.true(first.filter((job) => job !== undefined).length <= 2);
  left = 0;
  t.is(await take(), undefined);
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

test('however many commands somebody comments, another repository’s is the next', async (t) => {
  const { take, enqueue } = await queue(t, [], undefined, 'command');
  await enqueue(Array.from({ length: 200 }, () => 'acme/flooded'));
  const first = await take();
  t.is(first?.repository, 'acme/flooded');
  await enqueue(['acme/widgets', 'octo/site']);
  await first?.end();
  const second = await take();
  await second?.end();
  t.deepEqual([second?.repository, (await take())?.repository], ['octo/site', 'acme/widgets']);
});
