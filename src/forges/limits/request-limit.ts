import { AsyncLocalStorage } from 'node:async_hooks';
import { ForgeError } from '../port/forge-error.ts';

/** What is left of the requests that a piece of work may send to the forge. */
export interface RequestLimit {
  readonly left: number;
  /** Whether it wanted to send more: what it has read since is not all that it asked for. */
  readonly exceeded: boolean;
}

const limits = new AsyncLocalStorage<{ left: number; exceeded: boolean }>();

/** Does work that may send so many requests to the forge. Further ones are refused, and not sent. */
export function withRequestLimit<T>(max: number, work: (limit: RequestLimit) => Promise<T>): Promise<T> {
  const limit = { left: max, exceeded: false };
  return limits.run(limit, () => work(limit));
}

/**
 * Before each request. The tokens of an App's installations do not count: other work may wait for the same token, and they cost
 * nothing of the limit that reviews share.
 */
export function takeRequest(path: string): void {
  const limit = limits.getStore();
  if (limit === undefined || path.endsWith('/access_tokens')) {
    return;
  }
  if (limit.left === 0) {
    limit.exceeded = true;
    throw new ForgeError('refused', 'not sent: this work has sent as many requests as it may');
  }
  limit.left -= 1;
}
