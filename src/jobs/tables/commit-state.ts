import type pg from 'pg';
import type { Claim } from './claim.ts';
import { POSTED_ON, type PostedRow } from './posted-statuses.ts';
import { VERDICTS_ON, type VerdictOnHead } from './reviews.ts';

/** All that is stored of a commit, read at one moment. */
export interface CommitState {
  readonly verdicts: readonly VerdictOnHead[];
  readonly posted: readonly PostedRow[];
}

export async function readCommitState(pool: pg.Pool, repository: string, headSha: string): Promise<CommitState> {
  const { rows } = await pool.query<CommitState>(
    `SELECT ${VERDICTS_ON('$1', '$2')} AS verdicts, ${POSTED_ON('$1', '$2')} AS posted`,
    [repository, headSha],
  );
  return rows[0] ?? { verdicts: [], posted: [] };
}

/**
 * Marks that a status of this name shows the verdict, if the claim is held and the verdicts on the commit are still
 * those that it was computed from. Returns what they are now.
 */
export async function markReportedIfSame(
  pool: pg.Pool,
  { repository, number, fence }: Claim,
  { headSha, context }: { readonly headSha: string; readonly context: string },
  verdicts: readonly VerdictOnHead[],
): Promise<Pick<CommitState, 'verdicts'> & { readonly isMarked: boolean }> {
  const { rows } = await pool.query<Pick<CommitState, 'verdicts'> & { readonly isMarked: boolean }>(
    `WITH present AS (SELECT ${VERDICTS_ON('$1', '$2')} AS verdicts),
          marked AS (
            UPDATE gatehouse.reviews SET reported_as = $3 FROM present
             WHERE repository = $1 AND pull_request = $4 AND fence = $5 AND present.verdicts = $6::jsonb
            RETURNING 1)
     SELECT verdicts, EXISTS (SELECT FROM marked) AS "isMarked" FROM present`,
    [repository, headSha, context, number, fence, JSON.stringify(verdicts)],
  );
  return rows[0] ?? { verdicts: [], isMarked: false };
}
