import { hash } from 'node:crypto';
import type { ForgeName } from '../../forges/port/forges.ts';
import type { KnownFacts, PullRequestNow } from '../../forges/port/pull-request.ts';
import { stateOf } from '../../review/is-current.ts';
import { operatorPolicyDigest } from '../../review/policy/operator-policy.ts';
import type { Policy } from '../../review/policy/schema.ts';
import { postedDigest } from '../../review/posted-comments.ts';
import { revision, version } from '../../version.ts';

/**
 * A digest of all that a self-contained verdict depends on: the pull request, the two commits that its difference is computed from,
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
  const { baseCommit, differenceBase } = pullRequest;
  if (baseCommit === undefined || differenceBase === undefined) {
    return null;
  }
  const operator = fallback === undefined ? null : operatorPolicyDigest(fallback);
  const rules = [operator, baselineDigest, enforce];
  const what = [version, revision, stateOf(pullRequest), baseCommit, differenceBase, rules, keepsRecord];
  return hash('sha256', JSON.stringify(what));
}

/** What is stored: the state that was judged, and a digest of the comments that the verdict left there. */
export function storedState(state: string | null, comments: string): string | null {
  return state === null ? null : `${state}.${comments}`;
}

/** Whether the stored state is this one, with whatever comments. */
export function hasState(stored: string, state: string): boolean {
  return stored.startsWith(`${state}.`);
}

/** Whether our comments are still those that the verdict left there. */
export function hasComments(stored: string, forge: ForgeName, { ownComments, ownInlineComments }: KnownFacts): boolean {
  const posted = ownComments && ownInlineComments && { comments: ownComments, inlines: ownInlineComments };
  return posted !== undefined && stored.endsWith(`.${postedDigest(forge, posted)}`);
}
