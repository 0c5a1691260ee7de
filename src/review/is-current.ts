import type { Forge } from '../forges/port/forge.ts';
import type { PullRequestNow } from '../forges/port/pull-request.ts';
import { codeOwnersText, readCodeOwners } from './evaluation/gather-facts.ts';
import type { ReviewResult } from './judge.ts';
import { type BaselineOf, digestOfBaseline } from './policy/baseline.ts';
import { extendedDigest, policyDigest } from './policy/load.ts';

/** Whether the pull request, its policy and its CODEOWNERS are still those that were judged. One read, where nothing moved. */
export async function isCurrent(
  forge: Forge,
  { pullRequest, sources }: Pick<Extract<ReviewResult, { kind: 'judged' }>, 'pullRequest' | 'sources'>,
  baselineOf: BaselineOf,
): Promise<boolean> {
  const { repository } = pullRequest;
  if (digestOfBaseline(await baselineOf(repository)) !== sources.baselineDigest) {
    return false;
  }
  const now = await forge.pullRequest(pullRequest);
  const baseSha = now?.baseCommit;
  if (now === undefined || baseSha === undefined || stateOf(now) !== stateOf(pullRequest)) {
    return false;
  }
  const { extendsName, extendsDigest } = sources;
  // Only what was read: a policy may name another owner's, which is never read.
  if (extendsName !== undefined && extendsDigest !== undefined) {
    if ((await extendedDigest(forge, repository, extendsName)) !== extendsDigest) {
      return false;
    }
  }
  if (baseSha === sources.baseSha) {
    return true;
  }
  // The branch has moved, mostly for another pull request that was merged: what counts is whether the rules did.
  if ((await policyDigest(forge, repository, baseSha)) !== sources.policyDigest) {
    return false;
  }
  if (sources.codeOwnersDigest === undefined) {
    return true;
  }
  const codeOwners = await readCodeOwners(forge, repository, baseSha);
  return codeOwnersText(codeOwners)?.digest === sources.codeOwnersDigest;
}

/** All that a verdict can depend on. The commits of the base, the counts and the time of the last change move for other reasons too. */
export function stateOf(pullRequest: PullRequestNow): string {
  const { updatedAt, baseCommit, differenceBase, commentCount, changedFileCount, ...state } = pullRequest;
  return JSON.stringify(state);
}
