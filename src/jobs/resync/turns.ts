import type pg from 'pg';
import type { Forge } from '../../forges/port/forge.ts';
import type { PullRequestRef } from '../../forges/port/pull-request.ts';
import type { ReviewRequest } from '../../forges/port/review-requests.ts';
import { isUnderReview } from '../queue/under-review.ts';
import { isDue, recordDone } from '../tables/progress.ts';

export interface TurnDeps {
  readonly forge: Pick<Forge, 'overviews' | 'requestLimit'>;
  readonly pool: pg.Pool;
  readonly enqueue: (requests: readonly ReviewRequest[]) => Promise<void>;
  /** From one round to the next. */
  readonly minutes: number;
}

/** Of the requests that the forge takes in an hour, the others are for what has changed. */
const SHARE = 0.1;
/** What judging one again takes: see docs/forges.md. */
const REQUESTS = 5;
/** In one round: of each owner, where each has credentials of its own, and of all where the forge has no limit. */
const MOST_OF_OWNER = 20;
const MOST = 300;

/**
 * Has the pull requests judged again that were judged the longest ago. What changes without a webhook, or whose webhook
 * was lost, is found then, and nothing else has to remember what a verdict was judged by.
 */
export async function requestTurns({ forge, pool, enqueue, minutes }: TurnDeps): Promise<void> {
  // Deliveries can have rounds follow one another at once.
  if (!(await isDue(pool, 'turns', minutes / 2))) {
    return;
  }
  const perOwner = forge.overviews?.scope === 'owner';
  const most = Math.min(perOwner ? MOST_OF_OWNER : MOST, affordable(forge.requestLimit?.(), minutes));
  const turns = await nextTurns(pool, most, { perOwner });
  await enqueue(turns.map(({ repository, number }) => ({ kind: 'turn', repository, number })));
  await recordDone(pool, 'turns');
}

/** At least one. No more than an hour allows, however seldom there are rounds. */
function affordable(requestsAnHour: number | undefined, minutes: number): number {
  return requestsAnHour === undefined
    ? Number.POSITIVE_INFINITY
    : Math.max(1, Math.floor((requestsAnHour * SHARE * Math.min(minutes, 60)) / 60 / REQUESTS));
}

/**
 * Whose turn it is to be judged again: those that were judged the longest ago. Two of three are successes that may have
 * ended unseen; the third is whatever has waited longest, for a status by somebody else may stand in its place. What is
 * a success by the commits alone has a turn only where one is left: nothing can make that wrong, and somebody else's
 * status in its place only keeps it from being merged. `most` of each owner where `perOwner`, and else of all together.
 */
export async function nextTurns(
  pool: pg.Pool,
  most: number,
  { perOwner }: { readonly perOwner: boolean },
): Promise<readonly PullRequestRef[]> {
  const { rows } = await pool.query<PullRequestRef>(
    `WITH waiting AS (
       SELECT repository, pull_request, reviewed_at, fence, verdict = 'success' AND inputs_digest IS NULL AS unseen,
              verdict = 'success' AND inputs_digest IS NOT NULL AS fixed,
              CASE WHEN $2 THEN lower(split_part(repository, '/', 1)) ELSE '' END AS payer
         FROM gatehouse.reviews r
        WHERE open AND rules IS NOT NULL AND verdict <> 'none' AND NOT ${isUnderReview('r')}),
     ordered AS (
       SELECT *, row_number() OVER (PARTITION BY payer, unseen ORDER BY reviewed_at, fence) AS place FROM waiting),
     turns AS (
       SELECT *, row_number() OVER (
                   PARTITION BY payer
                   ORDER BY unseen AND place <= floor($1::int * 2 / 3.0) DESC, fixed, reviewed_at, fence) AS turn
         FROM ordered)
     SELECT repository, pull_request AS number FROM turns WHERE turn <= $1`,
    [most, perOwner],
  );
  return rows;
}

/** For how many seconds the success that was judged the longest ago has not been seen, of those that may end so. 0: none. */
export async function oldestUnseenSuccess(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query<{ seconds: number }>(
    `SELECT greatest(0, extract(epoch FROM now() - min(reviewed_at)))::float8 AS seconds
       FROM gatehouse.reviews WHERE verdict = 'success' AND open AND inputs_digest IS NULL`,
  );
  return rows[0]?.seconds ?? 0;
}
