import { reviewsThatDependOn } from '../../src/jobs/resync/outdated-reviews.ts';
import { beginReview, recordHead } from '../../src/jobs/tables/reviews.ts';
import { openMigratedDatabase } from '../helpers/database.ts';
import test from '../helpers/test.ts';

const REPOSITORY = 'acme/widgets';

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
