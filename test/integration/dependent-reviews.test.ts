import { notUnderReview } from '../../src/jobs/queue/under-review.ts';
import { reviewsThatDependOn } from '../../src/jobs/resync/outdated-reviews.ts';
import { beginReview, recordHead } from '../../src/jobs/tables/reviews.ts';
import { openMigratedDatabase } from '../helpers/database.ts';
import test from '../helpers/test.ts';

const REPOSITORY = 'acme/widgets';
const [HEAD, BASE] = ['a'.repeat(40), 'b'.repeat(40)];

test('a push never misses a review that runs, even one that has recorded nothing', async (t) => {
  const pool = await openMigratedDatabase(t);
  async function review(number: number, state: string, base?: string) {
    const { claim } = await beginReview(pool, { repository: REPOSITORY, number });
    if (base !== undefined) {
      const pullRequest = {
        head: { sha: `${number}`.repeat(40) },
        base: { branch: base },
        url: `https://forge.example/${number}`,
        updatedAt: '2026-01-02T03:04:05Z',
      } as Parameters<typeof recordHead>[2];
      await recordHead(pool, claim, pullRequest, `gatehouse/${base}`, { commented: null, settled: true });
    }
    await pool.query(
      `INSERT INTO gatehouse_jobs.job (name, singleton_key, policy, data, state)
       VALUES ('review', $1, 'stately', '{}', $2::text::gatehouse_jobs.job_state)`,
      [`${REPOSITORY}#${number}`, state],
    );
  }
  await review(1, 'active', 'main');
  await review(2, 'created', 'main');
  await review(3, 'active');
  await review(4, 'created');
  await review(5, 'active', 'next');

  const found = await reviewsThatDependOn(pool, REPOSITORY, 'main');
  t.deepEqual(
    found.map(({ number, isRunning }) => [number, isRunning]),
    [
      [1, true],
      [2, false],
      [3, true],
    ],
  );
});

test('a pull request under review is not requested again', async (t) => {
  const pool = await openMigratedDatabase(t);
  const ref = (number: number, headSha = HEAD) => ({
    repository: 'acme/widgets',
    number,
    now: { headSha, baseBranch: 'main', updatedAt: '2026-01-01T00:00:00Z' },
  });
  await pool.query(
    `INSERT INTO gatehouse_jobs.job (name, singleton_key, policy, data, state, heartbeat_seconds)
     SELECT 'review', 'acme/widgets#' || number, 'stately', '{}', state::gatehouse_jobs.job_state, 15
       FROM (VALUES (1, 'created'), (2, 'retry'), (3, 'active'), (4, 'active'), (5, 'active'), (6, 'completed')) AS job (number, state)`,
  );
  await pool.query(
    `INSERT INTO gatehouse.reviews (repository, pull_request, head_sha, description, base_branch, pull_request_updated_at)
     VALUES ('acme/widgets', 3, '', '', '', NULL),
            ('acme/widgets', 4, $1, '', 'main', '2026-01-01T00:00:00Z'),
            ('acme/widgets', 5, $2, '', 'main', '2026-01-01T00:00:00Z')`,
    [HEAD, BASE],
  );
  const candidates = [1, 2, 3, 4, 5, 6, 7].map((number) => ref(number));
  t.deepEqual(
    (await notUnderReview(pool, candidates)).map(({ number }) => number),
    [5, 6, 7],
    'those that have changed since the review read them, and those that none looks at',
  );
  const outdated = [1, 4].map((number) => ({ repository: 'acme/widgets', number }));
  t.deepEqual(
    (await notUnderReview(pool, outdated)).map(({ number }) => number),
    [4],
    'a review that has begun may have read the old rules',
  );
});
