import test from 'ava';
import { makeRequestBudget, paceReviews } from '../../../src/forges/limits/spending.ts';

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

test('no answer that comes late raises what is left of a limit', (t) => {
  const { hooks } = makeRequestBudget(0.5);
  const resetAt = Date.now() + 3_600_000;
  const seen = (remaining: number, at = resetAt) =>
    hooks.onRateLimit({ resource: 'core', remaining, limit: 100, resetAt: at });
  seen(50);
  t.notThrows(() => hooks.onWillRequest());
  seen(49);
  seen(51);
  t.throws(() => hooks.onWillRequest(), { message: /^49 of 100 requests are left/ });
  seen(100, resetAt + 3_600_000);
  t.notThrows(() => hooks.onWillRequest());
});
