import { hash } from 'node:crypto';
import type { Forge } from '../../forges/port/forge.ts';
import { ForgeError } from '../../forges/port/forge-error.ts';
import type { PullRequestRef, Triage } from '../../forges/port/pull-request.ts';

/**
 * The digest of the assignees and the milestone that the pull request has now, in hexadecimal. Undefined where the
 * forge does not say, as of a pull request that is gone.
 */
export async function presentTriageDigest(forge: Forge, ref: PullRequestRef): Promise<string | undefined> {
  try {
    return triageDigest(await forge.triage(ref));
  } catch (error) {
    if (error instanceof ForgeError && ['refused', 'invalid', 'too-large'].includes(error.kind)) {
      return undefined;
    }
    throw error;
  }
}

/** The same for the same assignees in any order. In hexadecimal. */
export function triageDigest({ assignees, milestone }: Triage): string {
  return hash('sha256', JSON.stringify([assignees.toSorted(), milestone]));
}
