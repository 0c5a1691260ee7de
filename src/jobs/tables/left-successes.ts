import type pg from 'pg';
import type { NamedStatus } from './posted-statuses.ts';

/** Where a success may stand that could not be withdrawn. */
export interface LeftSuccess extends NamedStatus {
  /** When it was left last, as PostgreSQL writes it: with microseconds. */
  readonly leftAt: string;
}

/** A success may stand there, and could not be withdrawn. */
export async function noteLeftSuccess(pool: pg.Pool, { repository, headSha, context }: NamedStatus): Promise<void> {
  await pool.query(
    `INSERT INTO gatehouse.left_successes (repository, head_sha, context) VALUES ($1, $2, $3)
     ON CONFLICT (repository, head_sha, context) DO UPDATE SET left_at = now()`,
    [repository, headSha, context],
  );
}

/**
 * Those first that were not tried for the longest time: commits that the forge refuses never keep back others. None of
 * a repository that is forgotten: these wait until a delivery comes from it.
 */
export async function leftSuccesses(pool: pg.Pool, limit: number): Promise<readonly LeftSuccess[]> {
  const { rows } = await pool.query<LeftSuccess>(
    `SELECT repository, head_sha AS "headSha", context, left_at::text AS "leftAt"
       FROM gatehouse.left_successes
      WHERE lower(repository) IN (SELECT lower(name) FROM gatehouse.repositories)
      ORDER BY tried_at NULLS FIRST, left_at LIMIT $1`,
    [limit],
  );
  return rows;
}

/** Before it is tried. */
export async function markTried(pool: pg.Pool, { repository, headSha, context }: NamedStatus): Promise<void> {
  await pool.query(
    'UPDATE gatehouse.left_successes SET tried_at = now() WHERE repository = $1 AND head_sha = $2 AND context = $3',
    [repository, headSha, context],
  );
}

/** Unless it was left once more since. */
export async function forgetLeftSuccess(
  pool: pg.Pool,
  { repository, headSha, context, leftAt }: LeftSuccess,
): Promise<void> {
  await pool.query(
    `DELETE FROM gatehouse.left_successes
      WHERE repository = $1 AND head_sha = $2 AND context = $3 AND left_at::text = $4`,
    [repository, headSha, context, leftAt],
  );
}
