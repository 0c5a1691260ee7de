import { LRUCache } from 'lru-cache';
import { ForgeError } from '../../forges/port/forge-error.ts';
import type { PullRequest } from '../../forges/port/pull-request.ts';

/**
 * How often one pull request is judged in an hour, and all those of one author together: whoever changes a title again
 * and again must not use up what a forge allows for everybody's reviews.
 */
const MOST = { pullRequest: 60, author: 300 } as const;
const WINDOW_MS = 60 * 60_000;
const MAX_COUNTED = 10_000;

export class JudgedTooOftenError extends ForgeError {
  constructor(message: string, retryAt: number) {
    super('rate-limited', message, { retryAt });
  }
}

/** Counts in this process: each replica has counts of its own. */
export interface JudgingLimit {
  /** Counts one more. Throws {@link JudgedTooOftenError} where that would be too many. */
  count(pullRequest: Pick<PullRequest, 'repository' | 'number' | 'author'>): void;
}

/** `now`: milliseconds, of a clock that nobody sets. */
export function makeJudgingLimit(now: () => number = () => performance.now()): JudgingLimit {
  const counts = new LRUCache<string, { readonly times: number; readonly end: number }>({ max: MAX_COUNTED });

  function countOne(key: string, most: number, what: string): void {
    const last = counts.get(key);
    const { times, end } = last !== undefined && last.end > now() ? last : { times: 0, end: now() + WINDOW_MS };
    if (times >= most) {
      throw new JudgedTooOftenError(`${what} judged ${most} times within an hour`, Date.now() + (end - now()));
    }
    counts.set(key, { times: times + 1, end });
  }

  return {
    count({ repository, number, author }) {
      const [owner] = repository.split('/');
      countOne(`${repository}#${number}`.toLowerCase(), MOST.pullRequest, `${repository}#${number} was`);
      // By owner: each installation of an App has a limit of its own.
      countOne(`${owner}/@${author}`.toLowerCase(), MOST.author, `pull requests by ${author} were`);
    },
  };
}
