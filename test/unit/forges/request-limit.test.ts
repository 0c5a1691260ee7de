import test from 'ava';
import { takeRequest, withRequestLimit } from '../../../src/forges/limits/request-limit.ts';

test('work sends so many requests and no more, and others are not limited', async (t) => {
  await withRequestLimit(2, async (limit) => {
    takeRequest('/repos/a/b');
    await Promise.resolve();
    takeRequest('/repos/a/b');
    t.deepEqual([limit.left, limit.exceeded], [0, false]);
    t.throws(() => takeRequest('/repos/a/b'), { message: /as many requests as it may/ });
    t.true(limit.exceeded);
  });
  t.notThrows(() => takeRequest('/repos/a/b'));
});

test('the token of an App is fetched whatever the limit: other work may wait for it', async (t) => {
  await withRequestLimit(0, async (limit) => {
    takeRequest('/app/installations/7/access_tokens');
    t.false(limit.exceeded);
  });
});
