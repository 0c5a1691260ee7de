import { ForgeError } from '../port/forge-error.ts';
import type { ForgeHooks } from '../transport/forge-fetch.ts';

/** Counts requests, and prevents those that would be too many. */
export interface RequestBudget {
  readonly hooks: ForgeHooks;
  /** All so far. */
  spent(): number;
  /** From now on so many may be sent. */
  allow(count: number): void;
}

interface Seen {
  readonly remaining: number;
  readonly limit: number;
  readonly resetAt: number;
}

/**
 * `reserve`: the share of the forge's limit, 0 to 1, that is left to others. Where the forge does not say what it is, nothing
 * is left. Throws as `rate-limited` when it is reached, and as `too-large` when no more requests are allowed.
 */
export function makeRequestBudget(reserve: number): RequestBudget {
  const limits = new Map<string, Seen>();
  let spent = 0;
  let allowed = Number.POSITIVE_INFINITY;
  return {
    hooks: {
      onWillRequest() {
        for (const { remaining, limit, resetAt } of limits.values()) {
          if (remaining < limit * reserve && resetAt > Date.now()) {
            const left = `${remaining} of ${limit} requests are left of the forge's limit, and ${Math.ceil(limit * reserve)} are reserved`;
            throw new ForgeError('rate-limited', left, { retryAt: resetAt });
          }
        }
        if (allowed === 0) {
          throw new ForgeError('too-large', 'it takes more requests to the forge than one pull request may take');
        }
        allowed -= 1;
        spent += 1;
      },
      onRateLimit({ resource, remaining, limit, resetAt }) {
        if (limit !== undefined && resetAt !== undefined) {
          limits.set(resource, { remaining, limit, resetAt });
        }
      },
    },
    spent: () => spent,
    allow(count) {
      allowed = count;
    },
  };
}
