import { ForgeError } from '../../forges/port/forge-error.ts';
import type { StatusPlace } from '../tables/posted-statuses.ts';
import { wasGoverned } from '../tables/repositories.ts';
import type { OpenReviewDeps } from './open-review.ts';

/**
 * Whether a commit may be told that it could not be reviewed. A repository without a policy hears nothing, also while
 * its files cannot be read: only where a policy was in force once, where there is one for all repositories, or where a
 * status of ours or a success stands, as after the database was lost.
 */
export async function isGoverned(
  { forge, pool, fallback, baselineOf }: Pick<OpenReviewDeps, 'forge' | 'pool' | 'fallback' | 'baselineOf'>,
  { repository, headSha, context }: StatusPlace,
): Promise<boolean> {
  if (fallback !== undefined || (await wasGoverned(pool, repository))) {
    return true;
  }
  if (await unlessUnread(false, async () => (await baselineOf(repository)).kind !== 'none')) {
    return true;
  }
  return unlessUnread(true, async () => {
    const present = await forge.status(repository, headSha, context);
    return present?.own === true || present?.state === 'success';
  });
}

async function unlessUnread(unread: boolean, read: () => Promise<boolean>): Promise<boolean> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof ForgeError) {
      return unread;
    }
    throw error;
  }
}
