import { ForgeError } from '../../forges/port/forge-error.ts';
import { commitStatuses, type StatusOptions } from '../review/commit-status.ts';
import { forgetLeftSuccess, leftSuccesses, markTried } from '../tables/left-successes.ts';
import { statusPlace } from '../tables/posted-statuses.ts';

/** One resync tries so many at most: each is a request or two. */
const MAX_TRIED = 100;

/**
 * Withdraws the successes that a review could not withdraw: it goes on when the forge refuses a status of the head
 * before. They would count for the next pull request with their commit. Each is tried until the forge has taken a
 * status, or has no such success.
 */
export async function withdrawLeftSuccesses(deps: StatusOptions): Promise<void> {
  const { forge, pool, log } = deps;
  const statuses = commitStatuses(deps);
  for (const left of await leftSuccesses(pool, MAX_TRIED)) {
    const { repository, headSha, context } = left;
    const named = { repository, headSha, context };
    const place = statusPlace(forge.name, left);
    await markTried(pool, left);
    try {
      if ((await forge.repository(repository)) === undefined) {
        // A repository that is hidden shows no status. It may be seen again.
        continue;
      }
      if (!(await statuses.showVerdict(place))) {
        await statuses.withdrawSuccess(place);
      }
      await forgetLeftSuccess(pool, left);
      log.info(named, 'the success of an old head was withdrawn, or its commit is gone');
    } catch (err) {
      if (!(err instanceof ForgeError)) {
        throw err;
      }
      log.warn({ err, ...named }, 'the success of an old head could not be withdrawn: the next resync tries again');
      if (err.kind === 'rate-limited') {
        return;
      }
    }
  }
}
