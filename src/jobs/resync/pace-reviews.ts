import type pg from 'pg';
import { REVIEW_QUEUE } from '../queue/queues.ts';

/** More than almost every review takes (docs/forges.md, "Requests of a review"), with room for the resync itself. */
const REQUESTS_OF_A_REVIEW = 15;
/** Of the requests that are left, reviews that are not urgent take so much. */
const SHARE = 0.5;

/**
 * Tells for one review after another whether it may be requested, so that together with those that wait already they take at most half
 * of what is left of the forge's rate limit. `remaining`: what it said last; infinite where it has none.
 */
export function paceReviews(pool: pg.Pool, remaining: number): () => Promise<boolean> {
  let left: Promise<number> | undefined;
  let taken = 0;
  return async () => {
    left ??= allowed(pool, remaining);
    taken += 1;
    return taken <= (await left);
  };
}

async function allowed(pool: pg.Pool, remaining: number): Promise<number> {
  if (remaining === Number.POSITIVE_INFINITY) {
    return remaining;
  }
  const { rows } = await pool.query<{ waiting: number }>(
    "SELECT count(*)::int AS waiting FROM gatehouse_jobs.job WHERE name = $1 AND state IN ('created', 'retry', 'active')",
    [REVIEW_QUEUE],
  );
  return Math.floor((remaining * SHARE) / REQUESTS_OF_A_REVIEW) - (rows[0]?.waiting ?? 0);
}
