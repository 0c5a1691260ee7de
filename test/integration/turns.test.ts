import type pg from 'pg';
import type { Overviews } from '../../src/forges/port/many-repositories.ts';
import type { ReviewRequest } from '../../src/forges/port/review-requests.ts';
import { nextTurns, oldestUnseenSuccess, requestTurns } from '../../src/jobs/resync/turns.ts';
import { beginReview, markLookedAt } from '../../src/jobs/tables/reviews.ts';
import { openMigratedDatabase } from '../helpers/database.ts';
import test from '../helpers/test.ts';

interface Row {
  readonly repository?: string;
  readonly verdict?: string | null;
  /** Whether nothing but the commits decides it. */
  readonly isFixed?: boolean;
  readonly isOpen?: boolean;
  readonly isJudged?: boolean;
  readonly hoursAgo?: number;
}

/** Pull requests 1, 2, … in the order in which their last reviews began. */
async function addReviews(pool: pg.Pool, rows: readonly Row[]): Promise<void> {
  for (const [index, row] of rows.entries()) {
    const { repository = 'acme/widgets', verdict = 'success', isFixed, isOpen = true, isJudged = true } = row;
    await pool.query(
      `INSERT INTO gatehouse.reviews (repository, pull_request, head_sha, base_branch, verdict, open, fence, inputs_digest, rules, reviewed_at)
       VALUES ($1, $2, 'head', 'main', $3, $4, nextval('gatehouse.review_fence'), $5, $6, now() - make_interval(hours => $7))`,
      [repository, index + 1, verdict, isOpen, isFixed ? 'digest' : null, isJudged ? '{}' : null, row.hoursAgo ?? 0],
    );
  }
}

const turnsOf = async (pool: pg.Pool, most: number, perOwner = false) =>
  (await nextTurns(pool, most, { perOwner })).map(({ number }) => number).sort((one, other) => one - other);

test('what only commits decide has a turn only where one is left', async (t) => {
  const pool = await openMigratedDatabase(t);
  await addReviews(pool, [
    { isFixed: true },
    { verdict: 'pending' },
    { verdict: 'none' },
    { verdict: null, isJudged: false },
    { isJudged: false },
    { isOpen: false },
    { isFixed: true, verdict: 'failure' },
    {},
  ]);
  // In the place of a failure a success by somebody else may stand.
  t.deepEqual(await turnsOf(pool, 3), [2, 7, 8]);
  t.deepEqual(await turnsOf(pool, 100), [1, 2, 7, 8]);
});

test('two of three turns are of successes, and the third is of whatever has waited longest', async (t) => {
  const pool = await openMigratedDatabase(t);
  const failure = { verdict: 'failure' };
  await addReviews(pool, [failure, failure, failure, {}, failure, {}, {}, {}]);
  t.deepEqual(await turnsOf(pool, 3), [1, 4, 6]);
  t.deepEqual(await turnsOf(pool, 6), [1, 2, 4, 6, 7, 8]);
  t.deepEqual(await turnsOf(pool, 100), [1, 2, 3, 4, 5, 6, 7, 8]);
  // However few there are, no kind of verdict waits for ever.
  t.deepEqual([await turnsOf(pool, 1), await turnsOf(pool, 2)], [[1], [1, 4]]);
});

test('a pull request under review has no turn', async (t) => {
  const pool = await openMigratedDatabase(t);
  await addReviews(pool, [{}, {}, {}]);
  await pool.query(
    `INSERT INTO gatehouse_jobs.job (name, singleton_key, policy, data, state)
     VALUES ('review', 'acme/widgets#1', 'stately', '{}', 'created'), ('review', 'acme/widgets#2', 'stately', '{}', 'active')`,
  );
  t.deepEqual(await turnsOf(pool, 3), [3]);
});

test('no owner’s pull requests take the turns of another owner, where each has credentials of its own', async (t) => {
  const pool = await openMigratedDatabase(t);
  const other = { repository: 'Octo/site' };
  await addReviews(pool, [{}, {}, {}, { repository: 'octo/app' }, other, other]);
  t.deepEqual(await turnsOf(pool, 2, true), [1, 2, 4, 5]);
  t.deepEqual(await turnsOf(pool, 2), [1, 2]);
});

test('every pull request has its turn', async (t) => {
  const pool = await openMigratedDatabase(t);
  const states = ['success', 'failure', 'success', 'pending', 'error'];
  await addReviews(
    pool,
    Array.from({ length: 30 }, (_, index) => ({ verdict: states[index % states.length] ?? '' })),
  );
  const seen = new Set<number>();
  let rounds = 0;
  for (; seen.size < 30 && rounds < 100; rounds++) {
    for (const { repository, number } of await nextTurns(pool, 3, { perOwner: false })) {
      seen.add(number);
      await markLookedAt(pool, (await beginReview(pool, { repository, number })).claim);
    }
  }
  t.true(rounds <= 18, `${rounds} rounds: a third of the turns are for 18 that are no successes`);
});

async function turnsRequested(
  pool: pg.Pool,
  limit: number | undefined,
  minutes: number,
  scope?: Overviews['scope'],
): Promise<number> {
  await pool.query(
    "UPDATE gatehouse.progress SET done_until = now() - make_interval(mins => $1) WHERE task = 'turns'",
    [minutes],
  );
  return requestedNow(pool, limit, minutes, scope);
}

async function requestedNow(
  pool: pg.Pool,
  limit: number | undefined,
  minutes: number,
  scope?: Overviews['scope'],
): Promise<number> {
  const requested: ReviewRequest[] = [];
  const overviews = scope && ({ scope } as Overviews);
  await requestTurns({
    forge: { requestLimit: () => limit, ...(overviews && { overviews }) },
    pool,
    minutes,
    enqueue: async (requests) => {
      requested.push(...requests);
    },
  });
  return requested.length;
}

test('turns take a tenth of what the forge allows in an hour, however often there are rounds', async (t) => {
  const pool = await openMigratedDatabase(t);
  await pool.query(
    `INSERT INTO gatehouse.reviews (repository, pull_request, head_sha, verdict, rules, fence)
     SELECT CASE WHEN n % 2 = 0 THEN 'acme/widgets' ELSE 'octo/app' END, n, 'head', 'success', '{}', n FROM generate_series(1, 1000) AS n`,
  );
  const of = (...[limit, minutes, scope]: [number | undefined, number, Overviews['scope']?]) =>
    turnsRequested(pool, limit, minutes, scope);
  // Five requests each.
  t.deepEqual([await of(5_000, 15), await of(5_000, 1), await of(5_000, 60)], [25, 1, 100]);
  t.is(await of(5_000, 1_440), 100, 'never more at once than in an hour');
  t.is(await of(60, 1), 1, 'never none');
  t.is(await of(undefined, 15), 300, 'without a limit');
  t.is(await of(100_000, 60), 300, 'with a large one');
  t.deepEqual([await of(5_000, 15, 'owner'), await of(undefined, 15, 'owner')], [40, 40], 'twenty of each owner');
  t.is(await of(5_000, 3, 'owner'), 10);
  t.is(await requestedNow(pool, 5_000, 15), 0, 'a round that follows at once');
});

test('the oldest success that may have ended untold is told, and no other verdict', async (t) => {
  const pool = await openMigratedDatabase(t);
  t.is(await oldestUnseenSuccess(pool), 0);
  await addReviews(pool, [
    { isFixed: true, hoursAgo: 9 },
    { verdict: 'failure', hoursAgo: 8 },
    { isOpen: false, hoursAgo: 7 },
    { hoursAgo: 3 },
    { hoursAgo: 2 },
  ]);
  t.is(Math.floor((await oldestUnseenSuccess(pool)) / 3_600), 3);
});
