import { hash } from 'node:crypto';
import { canonicalJson } from '../common/canonical-json.ts';
import type { PullRequestNow } from '../forges/port/pull-request.ts';
import { areRules, type RuleSources, type RulesContext, rulesDigest } from './rules-of.ts';

/** What verdicts depend on, whatever is judged: another Gatehouse may judge otherwise. */
export interface JudgedWith {
  readonly version: string;
  readonly revision: string;
  readonly enforce: boolean;
  readonly statusContext: string;
}

/** What a verdict was judged from. */
export interface Judged {
  readonly pullRequest: PullRequestNow;
  readonly rules: RuleSources;
}

/**
 * A digest of everything in the pull request that a verdict can depend on. The commits of the base, the counts and the
 * time of the last change move for other reasons too. It may be read once by GraphQL and then by REST, which order
 * things differently.
 */
export function pullRequestDigest(pullRequest: PullRequestNow): string {
  const { updatedAt, baseCommit, differenceBase, commentCount, changedFileCount, firstTime, ...state } = pullRequest;
  return hash('sha256', canonicalJson({ ...state, labels: state.labels.toSorted() }));
}

/**
 * A digest of all that decides a verdict for which nothing else has to be read than the pull request and its difference.
 * Undefined: it is not certain what the difference is taken from.
 */
export function inputsDigest(
  { pullRequest, rules }: Judged,
  { version, revision, enforce, statusContext }: JudgedWith,
): string | undefined {
  const { differenceBase } = pullRequest;
  if (differenceBase === undefined) {
    return undefined;
  }
  const by = [version, revision, enforce, statusContext];
  return hash('sha256', JSON.stringify([pullRequestDigest(pullRequest), differenceBase, rulesDigest(rules), ...by]));
}

/**
 * Whether the pull request and its rules are still those that were judged: what people and checks say starts a review of
 * its own. One read, where nothing moved and nothing is read by name.
 */
export async function isCurrent(context: RulesContext, { pullRequest, rules }: Judged): Promise<boolean> {
  const now = await context.forge.pullRequest(pullRequest);
  return (
    now?.baseCommit !== undefined &&
    pullRequestDigest(now) === pullRequestDigest(pullRequest) &&
    (await areRules(context, { repository: now.repository, commit: now.baseCommit }, rules))
  );
}
