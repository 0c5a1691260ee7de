import { AsyncLocalStorage } from 'node:async_hooks';

/** What one piece of work may spend of the requests that all work shares. */

const counts = new AsyncLocalStorage<{ requests: number }>();

/** Does work, and tells it how many requests it has sent so far. */
export function withRequestCount<T>(work: (count: () => number) => Promise<T>): Promise<T> {
  const counted = { requests: 0 };
  return counts.run(counted, () => work(() => counted.requests));
}

/**
 * Before each request. The tokens of an App's installations do not count: other work may wait for the same token, and
 * they cost nothing of the limit that reviews share.
 */
export function takeRequest(path: string): void {
  if (path.endsWith('/access_tokens')) {
    return;
  }
  const counted = counts.getStore();
  if (counted !== undefined) {
    counted.requests += 1;
  }
}

/** Requests that are kept for verdicts: a tenth of what GitHub allows an hour at least. */
const RESERVED_REQUESTS = 500;

/**
 * Whether the forge may be asked for what no verdict depends on. `remaining`: what is left of its rate limit, as it
 * said last; infinite where it has none.
 */
export function hasSpareRequests(remaining: number): boolean {
  return remaining > RESERVED_REQUESTS;
}

/** More than almost every review takes (docs/forges.md, "Requests of a review"), with room for the resync itself. */
const REQUESTS_OF_A_REVIEW = 15;
/** The share of the requests left that reviews may take when they are not urgent. */
const SHARE = 0.5;

/**
 * Tells for one review after another whether it may be requested, so that together with those that wait already they
 * take at most half of what is left of the forge's rate limit. `remaining`: as above. `countWaiting` is asked once, for
 * the first of them.
 */
export function paceReviews(remaining: number, countWaiting: () => Promise<number>): () => Promise<boolean> {
  let allowed: Promise<number> | undefined;
  let taken = 0;

  async function count(): Promise<number> {
    return remaining === Number.POSITIVE_INFINITY
      ? remaining
      : Math.floor((remaining * SHARE) / REQUESTS_OF_A_REVIEW) - (await countWaiting());
  }

  return async () => {
    allowed ??= count();
    taken += 1;
    return taken <= (await allowed);
  };
}
