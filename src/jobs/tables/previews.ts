import type pg from 'pg';
import type { PullRequestRef } from '../../forges/port/pull-request.ts';
import type { Impact, Proposal } from '../../review/proposal/proposal.ts';
import { type Claim, LostClaimError } from './claim.ts';

/** What was found out about a proposal. */
export interface Preview extends Pick<Proposal, 'cases'> {
  /** Absent: not found out yet. Null: its author may not ask, or it changes no policy. */
  readonly impact?: Impact | null;
}

/** That of the proposal with this digest; undefined: nothing was found out yet. */
export async function readPreview(
  pool: pg.Pool,
  { repository, number }: PullRequestRef,
  digest: string,
): Promise<Preview | undefined> {
  const { rows } = await pool.query<{ preview: Preview }>(
    'SELECT preview FROM gatehouse.reviews WHERE repository = $1 AND pull_request = $2 AND preview_digest = $3',
    [repository, number, digest],
  );
  return rows[0]?.preview;
}

export async function savePreview(pool: pg.Pool, claim: Claim, digest: string, preview: Preview): Promise<void> {
  const { rowCount } = await pool.query(
    `UPDATE gatehouse.reviews SET preview_digest = $4, preview = $5
      WHERE repository = $1 AND pull_request = $2 AND fence = $3`,
    [claim.repository, claim.number, claim.fence, digest, JSON.stringify(preview)],
  );
  if (rowCount === 0) {
    throw new LostClaimError(claim);
  }
}

/** The present verdicts on pull requests, by number. One that is not judged yet is not there. */
export async function presentVerdicts(
  pool: pg.Pool,
  repository: string,
  results: readonly { readonly pullRequest: PullRequestRef }[],
): Promise<ReadonlyMap<number, string>> {
  const { rows } = await pool.query<{ number: number; verdict: string }>(
    `SELECT pull_request AS number, verdict FROM gatehouse.reviews
      WHERE repository = $1 AND pull_request = ANY ($2::int[]) AND verdict IS NOT NULL`,
    [repository, results.map(({ pullRequest }) => pullRequest.number)],
  );
  return new Map(rows.map(({ number, verdict }) => [number, verdict]));
}
