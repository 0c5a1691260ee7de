import { ForgeError } from '../../forges/port/forge-error.ts';
import { wasGoverned } from '../tables/repositories.ts';
import type { Place } from '../tables/statuses.ts';
import type { ReviewDeps } from './review-deps.ts';

/**
 * Whether a commit may be told that it could not be reviewed. A repository without a policy hears nothing, also while
 * its files cannot be read: only where a policy was in force once, where the operator has set one, or where a status of
 * ours or a success stands, as after the database was lost. What cannot be read may be so: a baseline, too.
 */
export async function isGoverned(
  { forge, pool, fallback, baselineOf }: Pick<ReviewDeps, 'forge' | 'pool' | 'fallback' | 'baselineOf'>,
  { repository, headSha, context }: Place,
): Promise<boolean> {
  if (fallback !== undefined || (await wasGoverned(pool, repository))) {
    return true;
  }
  try {
    const baseline = await baselineOf(repository);
    const present = baseline.kind === 'none' ? await forge.status(repository, headSha, context) : undefined;
    return baseline.kind !== 'none' || present?.own === true || present?.state === 'success';
  } catch (error) {
    if (error instanceof ForgeError) {
      return true;
    }
    throw error;
  }
}
