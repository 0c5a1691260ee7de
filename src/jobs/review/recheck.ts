import type pg from 'pg';
import type { PullRequestRef } from '../../forges/port/pull-request.ts';

const MIN_SECONDS_BETWEEN = 60;

/** Whether the last time is long enough ago. A verdict from before is then not taken for the present one. */
export async function mayRecheck(pool: pg.Pool, { repository, number }: PullRequestRef): Promise<boolean> {
  const { rows } = await pool.query<{ soon: boolean }>(
    `UPDATE gatehouse.reviews r SET judged_by = CASE WHEN soon THEN judged_by ELSE judged_by - 'alone' END
       FROM (SELECT coalesce(rechecked_at > now() - make_interval(secs => $3), false) AS soon
               FROM gatehouse.reviews WHERE repository = $1 AND pull_request = $2) last
      WHERE repository = $1 AND pull_request = $2
      RETURNING soon`,
    [repository, number, MIN_SECONDS_BETWEEN],
  );
  // One that was never reviewed may be.
  return rows.every(({ soon }) => !soon);
}

export async function markRechecked(pool: pg.Pool, { repository, number }: PullRequestRef): Promise<void> {
  await pool.query('UPDATE gatehouse.reviews SET rechecked_at = now() WHERE repository = $1 AND pull_request = $2', [
    repository,
    number,
  ]);
}
