import { syncBuiltinESMExports } from 'node:module';
import { mock } from 'node:test';
import type { Jobs, Kind, TakenJob } from '../../src/jobs/queue/queue.ts';
import { makeSlots } from '../../src/jobs/slots.ts';
import { makeLog } from '../../src/log.ts';
import test from '../helpers/test.ts';

type Job = TakenJob<Jobs[Kind]>;

/** Slots whose looks for a job the test answers, oldest first. Each poll calls `dueQueues`. */
async function openSlots(
  kinds: Readonly<Partial<Record<Kind, number>>>,
  dueQueues: () => Promise<readonly Kind[]> = async () => [],
) {
  const looks: { readonly kind: Kind; readonly answer: (job?: { readonly othersWait: boolean }) => Promise<void> }[] =
    [];
  const running: PromiseWithResolvers<void>[] = [];
  const abandoned: AbortSignal[] = [];
  const slots = makeSlots({
    take: (kind) => {
      const { promise, resolve } = Promise.withResolvers<Job | undefined>();
      looks.push({
        kind,
        async answer(job) {
          resolve(job && jobOf(kind, job.othersWait));
          await quiet();
        },
      });
      // The test hands out what belongs to the queue.
      return promise as Promise<never>;
    },
    dueQueues,
    run: (_kind, _job, abandon) => {
      const job = Promise.withResolvers<void>();
      running.push(job);
      abandoned.push(abandon);
      return job.promise;
    },
    log: makeLog('silent'),
  });
  slots.open(new Map((Object.keys(kinds) as Kind[]).map((kind) => [kind, kinds[kind] ?? 0])));
  await quiet();
  /** What looks now, and the first of them. */
  const looking = () => looks.map(({ kind }) => kind);
  const wake = async (...kinds: readonly string[]) => {
    slots.wake(kinds);
    await quiet();
  };
  return { slots, wake, looking, first: () => looks.shift(), running, abandoned };
}

function jobOf(name: Kind, othersWait: boolean): Job {
  return {
    id: '',
    name,
    data: {},
    retryCount: 0,
    retryLimit: 0,
    expireInSeconds: 0,
    createdOn: new Date(0),
    startedOn: new Date(0),
    othersWait,
    hasDeadLetters: false,
  };
}

/** After everything that needs no timer. */
const quiet = () => new Promise<void>((resolve) => setImmediate(resolve));

test('a new job makes only one slot of its queue look for it', async (t) => {
  const { wake, looking } = await openSlots({ review: 2, command: 1, 'review-commit': 1 });
  await wake('review', 'review', 'review-commit', 'no such queue');
  t.deepEqual(looking(), ['review', 'review-commit']);
});

test('a poll makes one slot of each queue look in which a job waits', async (t) => {
  const { looking } = await openSlots({ review: 2, command: 1, push: 1 }, async () => ['push', 'review']);
  t.deepEqual(looking(), ['push', 'review']);
});

// Serial: the clock is that of the process.
test.serial('after a poll that failed, the next one finds what is due', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] });
  syncBuiltinESMExports();
  t.teardown(() => {
    mock.timers.reset();
    syncBuiltinESMExports();
  });
  let polls = 0;
  const { looking } = await openSlots({ review: 1 }, async () => {
    polls += 1;
    if (polls === 1) {
      throw new Error('the database is away');
    }
    return ['review'];
  });
  t.deepEqual([polls, looking()], [1, []]);
  mock.timers.tick(2_000);
  await quiet();
  t.deepEqual([polls, looking()], [2, ['review']]);
});

test('where it is not known which queues have jobs, one slot of each looks', async (t) => {
  const { slots, looking } = await openSlots({ review: 2, command: 1 });
  slots.wake();
  await quiet();
  t.deepEqual(looking(), ['review', 'command']);
});

test('no job waits while a slot of its queue is idle, nor after one has ended', async (t) => {
  const { wake, looking, first, running } = await openSlots({ review: 2 });
  await wake('review');
  await first()?.answer({ othersWait: true });
  t.deepEqual(looking(), ['review'], 'a slot that finds a job wakes the next');
  await first()?.answer({ othersWait: true });
  await wake('review');
  t.deepEqual(looking(), [], 'all are busy');
  for (const job of running) {
    job.resolve();
  }
  await quiet();
  t.deepEqual(looking(), ['review', 'review']);
});

test('no other slot looks when no other job waited', async (t) => {
  const { wake, looking, first, running } = await openSlots({ review: 2 });
  await wake('review');
  await first()?.answer({ othersWait: false });
  t.deepEqual(looking(), []);
  running[0]?.resolve();
  await quiet();
  t.deepEqual(looking(), ['review'], 'one may have come since');
});

test('a slot that is woken while it looks looks again', async (t) => {
  const { slots, looking, first } = await openSlots({ review: 1 }, async () => ['review']);
  const look = first();
  slots.wake(['review']);
  await look?.answer();
  t.deepEqual(looking(), ['review']);
});

test('a slot that is woken while it looks, and finds a job, wakes another one', async (t) => {
  const { slots, looking, first } = await openSlots({ review: 2 }, async () => ['review']);
  const look = first();
  slots.wake(['review']);
  await look?.answer({ othersWait: false });
  t.deepEqual(looking(), ['review']);
});

test('a slot whose look hangs is not the one that a poll wakes', async (t) => {
  const due = Promise.withResolvers<readonly Kind[]>();
  const { wake, looking } = await openSlots({ review: 2 }, () => due.promise);
  await wake('review');
  await wake('review');
  t.deepEqual(looking(), ['review'], 'a wake-up alone makes no two look at once');
  due.resolve(['review']);
  await quiet();
  t.deepEqual(looking(), ['review', 'review']);
});

test('slots that stop finish their jobs, and abandon what takes too long', async (t) => {
  const { slots, looking, first, running, abandoned } = await openSlots({ review: 2 }, async () => ['review']);
  await first()?.answer({ othersWait: true });
  await first()?.answer({ othersWait: false });
  t.is(running.length, 2);
  const stopped = slots.stop(0);
  running[0]?.resolve();
  abandoned[1]?.addEventListener('abort', () => running[1]?.resolve());
  await stopped;
  t.deepEqual(looking(), []);
});
