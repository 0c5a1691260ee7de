/** Requests that are kept for verdicts: a tenth of what GitHub allows an hour at least. */
const RESERVED_REQUESTS = 500;

/**
 * Whether the forge may be asked for what no verdict depends on. `remaining`: what is left of its rate limit, as it said last;
 * infinite where it has none.
 */
export function hasSpareRequests(remaining: number): boolean {
  return remaining > RESERVED_REQUESTS;
}
