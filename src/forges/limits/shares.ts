import { LRUCache } from 'lru-cache';
import { ForgeError } from '../port/forge-error.ts';
import { withRequestCount } from './spending.ts';

/** What one pull request, and one author, may spend in an hour of the requests that all reviews share. */

const WINDOW_MS = 60 * 60_000;
/** What is spent in this time counts as spent at its beginning: a few dozen entries, whatever the number of reviews. */
const STEP_MS = 60_000;
/** After this a review that waits looks again whether it may run: one request. */
const LOOK_AGAIN_MS = 5 * 60_000;
/** Shares of the requests that are left. As these become fewer, whoever has spent the most waits first. */
const SHARES = { pullRequest: 0.1, author: 0.3 } as const;
/** Never less than this, an hour: a few ordinary reviews. */
const MINIMUM = { pullRequest: 60, author: 180 } as const;
/** Pull requests and authors whose spending is remembered. */
const MAX_REMEMBERED = 10_000;

type Spender = keyof typeof SHARES;

interface Spent {
  readonly at: number;
  readonly requests: number;
}

/** Shares of this process: other replicas have others. */
export interface RequestShares {
  /** Reviews a pull request, and counts what it spends. `charge` says whose it is, once that is known. */
  review<T>(work: (charge: Charge) => Promise<T>): Promise<T>;
}

/**
 * Counts the requests of the review as those of a pull request and its author. Throws as `rate-limited` what has to
 * wait.
 */
export type Charge = (
  pullRequest: { readonly repository: string; readonly number: number; readonly author: string },
  /** Called before it throws. */
  onWait: () => Promise<void>,
) => Promise<void>;

/**
 * `remaining`: what is left of the forge's rate limit, as it said last; infinite where it has none, and nobody waits.
 */
export function makeRequestShares(remaining: () => number, now: () => number = Date.now): RequestShares {
  const spending = new LRUCache<string, readonly Spent[]>({ max: MAX_REMEMBERED });

  function spentBy(key: string): readonly Spent[] {
    return (spending.get(key) ?? []).filter(({ at }) => at > now() - WINDOW_MS);
  }

  function hasSpentItsShare(spender: Spender, key: string): boolean {
    const spent = spentBy(key).reduce((sum, { requests }) => sum + requests, 0);
    return spent >= Math.max(MINIMUM[spender], remaining() * SHARES[spender]);
  }

  function add(key: string, requests: number): void {
    const spent = spentBy(key);
    const last = spent.at(-1);
    const isLater = last === undefined || now() - last.at >= STEP_MS;
    spending.set(
      key,
      isLater
        ? [...spent, { at: now(), requests }]
        : spent.with(-1, { at: last.at, requests: last.requests + requests }),
    );
  }

  return {
    review: (work) =>
      withRequestCount(async (count) => {
        const keys: Record<Spender, string | undefined> = { pullRequest: undefined, author: undefined };
        try {
          return await work(async ({ repository, number, author }, onWait) => {
            // By owner: an App's installations have a limit each.
            keys.author = `${repository.split('/')[0]}/@${author}`.toLowerCase();
            keys.pullRequest = `${repository}#${number}`.toLowerCase();
            for (const spender of ['pullRequest', 'author'] as const) {
              if (hasSpentItsShare(spender, keys[spender] ?? '')) {
                await onWait();
                const who = spender === 'author' ? `pull requests by ${author}` : `${repository}#${number}`;
                throw new ForgeError(
                  'rate-limited',
                  `reviews of ${who} have used their share of the requests of an hour`,
                  {
                    retryAt: now() + LOOK_AGAIN_MS,
                  },
                );
              }
            }
          });
        } finally {
          for (const key of Object.values(keys)) {
            if (key !== undefined && count() > 0) {
              add(key, count());
            }
          }
        }
      }),
  };
}
