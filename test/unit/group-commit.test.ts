import { makeGroupCommit } from '../../src/inbox/group-commit.ts';
import test from '../helpers/test.ts';

const never = new AbortController().signal;
const limits = { maxItems: 10, maxWeight: 100, weigh: (weight: number) => weight };

/** A group commit whose commits end when the test says so. */
function controlled(options = limits) {
  const batches: { items: readonly number[]; end: PromiseWithResolvers<void> }[] = [];
  const group = makeGroupCommit<number, number>(options, async (items) => {
    const batch = { items, end: Promise.withResolvers<void>() };
    batches.push(batch);
    await batch.end.promise;
    return items.map((item) => ({ status: 'fulfilled', value: item * 2 }));
  });
  return { group, batches, items: () => batches.map(({ items }) => items) };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test('an item that comes when nothing is in flight is committed at once; those during a commit share the next', async (t) => {
  const { group, batches, items } = controlled();
  const results = [1, 2, 3].map((item) => group.add(item, never));
  t.deepEqual(items(), [[1]]);
  batches[0]?.end.resolve();
  await results[0];
  await settled();
  t.deepEqual(items(), [[1], [2, 3]]);
  batches[1]?.end.resolve();
  t.deepEqual(await Promise.all(results), [2, 4, 6]);
});

test('a batch ends at its maximum number of items, or at its maximum weight', async (t) => {
  const { group, batches, items } = controlled({ ...limits, maxItems: 2, maxWeight: 50 });
  const results = [1, 2, 3, 60, 4].map((item) => group.add(item, never));
  for (let index = 0; index < 4; index++) {
    batches[index]?.end.resolve();
    await settled();
  }
  await Promise.all(results);
  t.deepEqual(items(), [[1], [2, 3], [60], [4]]);
});

test('an item that is withdrawn while it waits is not committed', async (t) => {
  const { group, batches, items } = controlled();
  const first = group.add(1, never);
  const controller = new AbortController();
  const withdrawn = group.add(2, controller.signal);
  const third = group.add(3, never);
  controller.abort(new Error('too late'));
  batches[0]?.end.resolve();
  await first;
  await settled();
  batches[1]?.end.resolve();
  t.is(await third, 6);
  await t.throwsAsync(withdrawn, { message: 'too late' });
  t.deepEqual(items(), [[1], [3]]);
});

test('an item that is withdrawn before it is added does not stop those that follow', async (t) => {
  const { group, batches } = controlled();
  await t.throwsAsync(group.add(1, AbortSignal.abort(new Error('too late'))), { message: 'too late' });
  const result = group.add(2, never);
  batches[0]?.end.resolve();
  t.is(await result, 4);
});

test('a commit that fails rejects its own items and no others', async (t) => {
  let attempts = 0;
  const group = makeGroupCommit<number, number>(limits, async (items) => {
    attempts += 1;
    if (attempts === 1) {
      throw new Error('no database');
    }
    return items.map((item) => ({ status: 'fulfilled', value: item }));
  });
  const first = group.add(1, never);
  const second = group.add(2, never);
  await t.throwsAsync(first, { message: 'no database' });
  t.is(await second, 2);
});

test('idle waits for everything that was added, and again for what comes later', async (t) => {
  const { group, batches } = controlled();
  await group.idle();
  void group.add(1, never);
  let idle = false;
  const waiting = group.idle().then(() => {
    idle = true;
  });
  await settled();
  t.false(idle);
  batches[0]?.end.resolve();
  await waiting;
  t.true(idle);
});
