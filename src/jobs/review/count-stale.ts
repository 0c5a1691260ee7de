import type pg from 'pg';
import { type RuleSources, rulesDigest } from '../../review/rules-of.ts';
import type { Verdict } from '../../review/verdict.ts';
import { JOBS_SCHEMA } from '../queue/queue.ts';
import type { Claim } from '../tables/claim.ts';
import type { ReviewDeps } from './review-deps.ts';
import type { UnderWay } from './under-way.ts';

type CountDeps = Pick<ReviewDeps, 'pool' | 'metrics' | 'log'>;
type StaleVerdicts = Pick<CountDeps['metrics'], 'staleVerdicts'>;

const REASONS = ['success', 'verdict', 'status'] as const;

/** So that each reason is on the metrics page from the start. */
export function countNoneStale(metrics: StaleVerdicts): void {
  for (const why of REASONS) {
    count(metrics, why, 0);
  }
}

function count({ staleVerdicts }: StaleVerdicts, why: (typeof REASONS)[number], times = 1): void {
  staleVerdicts.inc({ why }, times);
}

/** A turn has found another verdict than the one that stood, and no webhook had reported a change. */
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
    count(metrics, was === 'success' ? 'success' : 'verdict');
    log.warn(
      { repository, number, was, now: now.state },
      'a turn found another verdict, and no webhook had reported a change',
    );
  }
}

/** A turn has found another status in place of ours. */
export async function countReplaced({ pool, metrics, log }: CountDeps, claim: Claim): Promise<void> {
  if (!(await isTold(pool, claim))) {
    const { repository, number } = claim;
    count(metrics, 'status');
    log.warn(
      { repository, number },
      'a turn found another status in place of Gatehouse’s, and no webhook had reported it',
    );
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
