import test from 'ava';
import type { JobWithMetadata } from 'pg-boss';
import type { Jobs, Kind } from '../../src/jobs/queue/queue.ts';
import { makeSlots, type Work } from '../../src/jobs/slots.ts';

/** An engine in which jobs are handed out by the test. Its ids count up from 0. */
async function openSlots(kinds: readonly Kind[]) {
  const notified: string[] = [];
  const opened: { readonly kind: Kind; readonly hand: (told?: object) => Promise<void> }[] = [];
  const slots = makeSlots({
    async open<K extends Kind>(kind: K, work: Work<K>) {
      opened.push({ kind, hand: (told = {}) => work([told as JobWithMetadata<Jobs[K]>]) });
      return String(opened.length - 1);
    },
    notify: (id) => notified.push(id),
  });
  const running: PromiseWithResolvers<void>[] = [];
  for (const kind of kinds) {
    await slots.open(kind, () => {
      const job = Promise.withResolvers<void>();
      running.push(job);
      return job.promise;
    });
  }
  return { slots, notified, running, hand: (id: number, told?: object) => opened[id]?.hand(told) };
}

test('a new job makes only one slot of its queue look for it', async (t) => {
  const { slots, notified } = await openSlots(['review', 'review', 'command', 'review-commit']);
  slots.wake(['review', 'review', 'review-commit', 'no such queue']);
  t.deepEqual(notified, ['0', '3']);
});

test('where it is not known which queues have jobs, one slot of each looks', async (t) => {
  const { slots, notified } = await openSlots(['review', 'review', 'command']);
  slots.wake();
  t.deepEqual(notified, ['0', '2']);
});

test('no job waits while a slot of its queue is idle, nor after one has ended', async (t) => {
  const { slots, notified, running, hand } = await openSlots(['review', 'review']);
  const first = hand(0);
  t.deepEqual(notified, ['1'], 'a slot that finds a job wakes the next');
  slots.wake(['review']);
  t.deepEqual(notified, ['1', '1']);
  const second = hand(1);
  slots.wake(['review']);
  t.deepEqual(notified, ['1', '1'], 'all are busy');
  for (const job of running) {
    job.resolve();
  }
  await Promise.all([first, second]);
  t.deepEqual(notified, ['1', '1', '0', '1']);
});

test('no other slot looks when no other job waited', async (t) => {
  const { notified, running, hand } = await openSlots(['review', 'review']);
  const job = hand(0, { othersWait: false });
  t.deepEqual(notified, []);
  running[0]?.resolve();
  await job;
  t.deepEqual(notified, ['0'], 'one may have come since');
});
