import test from 'ava';
import { paceReviews } from '../../../src/forges/limits/spending.ts';

test('reviews that can wait take half of the requests left at most', async (t) => {
  let counts = 0;
  const may = paceReviews(150, async () => {
    counts += 1;
    return 3;
  });
  // 150 requests are enough for 10 reviews of 15; half of them, and 3 wait already.
  t.deepEqual([await may(), await may(), await may()], [true, true, false]);
  t.is(counts, 1);
});

test('where the forge has no limit, reviews are not paced or counted', async (t) => {
  const may = paceReviews(Number.POSITIVE_INFINITY, () => Promise.reject(new Error('counted')));
  t.true(await may());
});
