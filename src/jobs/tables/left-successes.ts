import type pg from 'pg';
import type { StatusPlace } from './posted-statuses.ts';

/** A forge that refuses a status for so long has no such commit any more. */
const MAX_DAYS = 30;

/** A success may stand there, and could not be withdrawn. */
export async function noteLeftSuccess(pool: pg.Pool, { repository, headSha, context }: StatusPlace): Promise<void> {
  await pool.query(
    'INSERT INTO gatehouse.left_successes (repository, head_sha, context) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING',
    [repository, headSha, context],
  );
}

/** The newest first, so that commits which are gone never keep back others. */
export async function leftSuccesses(pool: pg.Pool, limit: number): Promise<readonly StatusPlace[]> {
  await pool.query('DELETE FROM gatehouse.left_successes WHERE left_at < now() - make_interval(days => $1)', [
    MAX_DAYS,
  ]);
  const { rows } = await pool.query<StatusPlace>(
    'SELECT repository, head_sha AS "headSha", context FROM gatehouse.left_successes ORDER BY left_at DESC LIMIT $1',
    [limit],
  );
  return rows;
}

export async function forgetLeftSuccess(pool: pg.Pool, { repository, headSha, context }: StatusPlace): Promise<void> {
  await pool.query('DELETE FROM gatehouse.left_successes WHERE repository = $1 AND head_sha = $2 AND context = $3', [
    repository,
    headSha,
    context,
  ]);
}
