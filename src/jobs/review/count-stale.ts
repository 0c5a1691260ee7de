import type pg from 'pg';
import { type RuleSources, rulesDigest } from '../../review/rules-of.ts';
import type { Verdict } from '../../review/verdict.ts';
import { JOBS_SCHEMA } from '../queue/queue.ts';
import type { Claim } from '../tables/claim.ts';
import type { ReviewDeps } from './review-deps.ts';
import type { UnderWay } from './under-way.ts';

type CountDeps = Pick<ReviewDeps, 'pool' | 'metrics' | 'log'>;

/** A verdict that stood, and that its turn has found to be another, although nothing had told of it. */
export async function countStale(
  { pool, metrics, log }: CountDeps,
  { before, claim }: Pick<UnderWay, 'before' | 'claim'>,
  now: { readonly state: Verdict['state'] | 'none'; readonly rules: RuleSources },
): Promise<void> {
  // Other rules are found without a turn.
  const isSameRules = before?.rules != null && rulesDigest(before.rules) === rulesDigest(now.rules);
  if (isSameRules && before.verdict !== now.state && !(await isTold(pool, claim))) {
    const { repository, number } = claim;
    const was = before.verdict;
    metrics.staleVerdicts.inc({ why: was === 'success' ? 'success' : 'verdict' });
    log.warn({ repository, number, was, now: now.state }, 'a verdict had ended, and nothing had told of it');
  }
}

/** A status that was ours, and that its turn has found to be another. */
export async function countReplaced({ pool, metrics, log }: CountDeps, claim: Claim): Promise<void> {
  if (!(await isTold(pool, claim))) {
    const { repository, number } = claim;
    metrics.staleVerdicts.inc({ why: 'status' });
    log.warn({ repository, number }, 'a status was another than Gatehouse’s, and nothing had told of it');
  }
}

/** Whether a webhook that came meanwhile has a job that may find the same. */
async function isTold(pool: pg.Pool, { repository }: Claim): Promise<boolean> {
  const { rowCount } = await pool.query(
    `SELECT FROM ${JOBS_SCHEMA}.job
      WHERE name <> 'turn' AND state <= 'active' AND policy = 'stately' AND data->>'repository' = $1 LIMIT 1`,
    [repository],
  );
  return rowCount !== 0;
}
