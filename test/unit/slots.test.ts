import type { Jobs, Kind, TakenJob } from '../../src/jobs/queue/queue.ts';
import { makeSlots } from '../../src/jobs/slots.ts';
import { makeLog } from '../../src/log.ts';
import test from '../helpers/test.ts';

type Job = TakenJob<Jobs[Kind]>;

/** Slots whose looks for a job the test answers, oldest first. */
function openSlots(kinds: Readonly<Partial<Record<Kind, number>>>) {
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
    run: (_kind, _job, abandon) => {
      const job = Promise.withResolvers<void>();
      running.push(job);
      abandoned.push(abandon);
      return job.promise;
    },
    log: makeLog('silent'),
  });
  for (const kind of Object.keys(kinds) as Kind[]) {
    slots.open(kind, kinds[kind] ?? 0);
  }
  /** What looks now, and the first of them. */
  const looking = () => looks.map(({ kind }) => kind);
  return { slots, looking, first: () => looks.shift(), running, abandoned };
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

/** All have looked once, and found nothing. */
async function openIdle(kinds: Readonly<Partial<Record<Kind, number>>>) {
  const opened = openSlots(kinds);
  for (let look = opened.first(); look !== undefined; look = opened.first()) {
    await look.answer();
  }
  return opened;
}

test('a new job makes only one slot of its queue look for it', async (t) => {
  const { slots, looking } = await openIdle({ review: 2, command: 1, 'review-commit': 1 });
  slots.wake(['review', 'review', 'review-commit', 'no such queue']);
  await quiet();
  t.deepEqual(looking(), ['review', 'review-commit']);
});

test('where it is not known which queues have jobs, one slot of each looks', async (t) => {
  const { slots, looking } = await openIdle({ review: 2, command: 1 });
  slots.wake();
  await quiet();
  t.deepEqual(looking(), ['review', 'command']);
});

test('no job waits while a slot of its queue is idle, nor after one has ended', async (t) => {
  const { slots, looking, first, running } = await openIdle({ review: 2 });
  slots.wake(['review']);
  await quiet();
  await first()?.answer({ othersWait: true });
  t.deepEqual(looking(), ['review'], 'a slot that finds a job wakes the next');
  await first()?.answer({ othersWait: true });
  slots.wake(['review']);
  await quiet();
  t.deepEqual(looking(), [], 'all are busy');
  for (const job of running) {
    job.resolve();
  }
  await quiet();
  t.deepEqual(looking(), ['review', 'review']);
});

test('no other slot looks when no other job waited', async (t) => {
  const { slots, looking, first, running } = await openIdle({ review: 2 });
  slots.wake(['review']);
  await quiet();
  await first()?.answer({ othersWait: false });
  t.deepEqual(looking(), []);
  running[0]?.resolve();
  await quiet();
  t.deepEqual(looking(), ['review'], 'one may have come since');
});

test('a slot that is woken while it looks looks again', async (t) => {
  const { slots, looking, first } = openSlots({ review: 1 });
  const look = first();
  slots.wake(['review']);
  await look?.answer();
  t.deepEqual(looking(), ['review']);
});

test('slots that stop finish their jobs, and abandon what takes too long', async (t) => {
  const { slots, looking, first, running, abandoned } = openSlots({ review: 2 });
  await first()?.answer({ othersWait: false });
  await first()?.answer({ othersWait: false });
  const stopped = slots.stop(0);
  running[0]?.resolve();
  abandoned[1]?.addEventListener('abort', () => running[1]?.resolve());
  await stopped;
  t.deepEqual(looking(), []);
});
