import { hash } from 'node:crypto';
import type { PullRequestNow } from '../forges/pull-request.ts';
import { stateOf } from '../review/judge.ts';
import { operatorPolicyDigest } from '../review/policy/operator-policy.ts';
import type { Policy } from '../review/policy/schema.ts';
import { revision, version } from '../version.ts';

/**
 * A digest of all that a self-contained verdict depends on: the pull request, the two commits that its difference is between,
 * the base's commit with the policy, the organisation's and the operator's policy, whether they are enforced, and this code. Null where
 * the forge does not name the commits. Whether a record is kept counts as well: a verdict from before is judged once more, so that it is in the record.
 */
export function judgedState(
  pullRequest: PullRequestNow,
  {
    fallback,
    enforce,
    keepsRecord,
    baselineDigest = null,
  }: {
    readonly fallback: Policy | undefined;
    readonly enforce: boolean;
    readonly keepsRecord: boolean;
    readonly baselineDigest?: string | null | undefined;
  },
): string | null {
  const { baseCommit, mergeBase } = pullRequest;
  if (baseCommit === undefined || mergeBase === undefined) {
    return null;
  }
  const operator = fallback === undefined ? null : operatorPolicyDigest(fallback);
  const rules = [operator, baselineDigest, enforce];
  const what = [version, revision, stateOf(pullRequest), baseCommit, mergeBase, rules, keepsRecord];
  return hash('sha256', JSON.stringify(what));
}
