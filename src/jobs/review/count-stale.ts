import type pg from 'pg';
import type { Verdict } from '../../review/verdict.ts';
import { isUnderReview } from '../queue/under-review.ts';
import type { Claim } from '../tables/claim.ts';
import type { ReviewDeps } from './review-deps.ts';
import type { Entered, UnderWay } from './under-way.ts';

/** A verdict that stood, and that its turn has found to be another, although nothing had told of it. */
export async function countStale(
  { pool, metrics, log }: Pick<ReviewDeps, 'pool' | 'metrics' | 'log'>,
  { before, keepsVerdict, claim }: Pick<UnderWay, 'before' | 'claim'> & Pick<Entered, 'keepsVerdict'>,
  now: Verdict['state'] | 'none',
): Promise<void> {
  const was = keepsVerdict && before?.isJudged ? before.verdict : now;
  if (was !== now && !(await isTold(pool, claim))) {
    const { repository, number } = claim;
    metrics.staleVerdicts.inc({ why: was === 'success' ? 'success' : 'verdict' });
    log.warn({ repository, number, was, now }, 'a verdict had ended, and nothing had told of it');
  }
}

/** Whether a webhook that came meanwhile has a review of its own. */
async function isTold(pool: pg.Pool, { repository, number, fence }: Claim): Promise<boolean> {
  const { rowCount } = await pool.query(
    `SELECT FROM gatehouse.reviews r
      WHERE repository = $1 AND pull_request = $2 AND fence = $3 AND NOT ${isUnderReview('r')}`,
    [repository, number, fence],
  );
  return rowCount === 0;
}
