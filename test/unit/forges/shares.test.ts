import test from 'ava';
import { makeRequestShares } from '../../../src/forges/limits/shares.ts';
import { takeRequest } from '../../../src/forges/limits/spending.ts';

/** A worker with so many requests left, and what it spends on a pull request: `waits` or `reviewed`. */
function worker(remaining: number) {
  const clock = { now: 0 };
  const shown: string[] = [];
  const shares = makeRequestShares(
    () => remaining,
    () => clock.now,
  );
  async function review(name: string, author: string, requests: number): Promise<string> {
    const [repository = '', number] = name.split('#');
    try {
      return await shares.review(async (charge) => {
        takeRequest('/repos');
        await charge({ repository, number: Number(number), author }, async () => {
          shown.push(name);
        });
        for (let request = 1; request < requests; request++) {
          takeRequest('/repos');
        }
        return 'reviewed';
      });
    } catch (error) {
      assertWaits(error);
      return 'waits';
    }
  }
  return { clock, shown, review };
}

function assertWaits(error: unknown): void {
  if (!(error instanceof Error && 'kind' in error && error.kind === 'rate-limited' && 'retryAt' in error)) {
    throw error;
  }
}

test('pushes of a stranger never use up the requests of an hour', async (t) => {
  const { review, shown, clock } = worker(5_000);
  let spent = 0;
  for (let push = 0; push < 156; push++) {
    clock.now += 1_000;
    spent += (await review('acme/widgets#7', 'mallory', 32)) === 'reviewed' ? 32 : 1;
  }
  t.true(spent < 700, `${spent} requests`);
  t.true(shown.includes('acme/widgets#7'), 'pending is shown before it waits');
  t.is(await review('acme/widgets#8', 'alice', 32), 'reviewed');
  clock.now += 60 * 60_000 + 1;
  t.is(await review('acme/widgets#7', 'mallory', 32), 'reviewed');
});

test('an author with many pull requests waits, and others do not', async (t) => {
  const { review } = worker(1_000);
  const outcomes: string[] = [];
  for (let number = 1; number <= 20; number++) {
    outcomes.push(await review(`acme/widgets#${number}`, number % 2 ? 'mallory' : 'Mallory', 32));
  }
  t.is(outcomes.indexOf('waits'), 10);
  t.is(await review('acme/widgets#21', 'alice', 32), 'reviewed');
  t.is(await review('octo/site#1', 'mallory', 32), 'reviewed', 'another owner has a limit of its own');
});

test('each review counts for an hour, however close together they are', async (t) => {
  const { review, clock } = worker(600);
  const spend = async (reviews: number) => {
    const outcomes: string[] = [];
    for (let number = 1; number <= reviews; number++) {
      clock.now += 1_000;
      outcomes.push(await review(`acme/widgets#${number}`, 'mallory', 9));
    }
    return outcomes.filter((outcome) => outcome === 'reviewed').length;
  };
  t.is(await spend(15), 15);
  clock.now += 30 * 60_000;
  t.is(await spend(15), 5, 'of 180 requests, 135 were spent before');
  clock.now += 30 * 60_000;
  t.true((await spend(15)) > 5, 'those of the first half hour no longer count');
});

test('few requests that are left stop no first review', async (t) => {
  const { review } = worker(0);
  t.is(await review('acme/widgets#7', 'mallory', 32), 'reviewed');
});

test('a forge without a limit makes nobody wait', async (t) => {
  const { review } = worker(Number.POSITIVE_INFINITY);
  for (let push = 0; push < 100; push++) {
    t.is(await review('acme/widgets#7', 'mallory', 32), 'reviewed');
  }
});
