import { hash } from 'node:crypto';
import type { PullRequest } from '../../forges/pull-request.ts';
import type { SourceText } from '../sources.ts';
import type { LoadedPolicy } from './load.ts';
import { POLICY_PATHS } from './paths.ts';
import type { Policy } from './schema.ts';

/** The first policy of a repository is checked as well, in the pull request that adds it. */
export function orFallback(
  loaded: LoadedPolicy,
  fallback: Policy | undefined,
  { repository }: PullRequest,
  proposes: boolean,
): LoadedPolicy {
  if (loaded.kind !== 'absent') {
    return loaded;
  }
  if (fallback !== undefined) {
    const text = operatorPolicyText(fallback);
    return { kind: 'policy', policy: fallback, sources: { operatorPolicyDigest: text.digest }, texts: [text] };
  }
  return proposes
    ? { kind: 'policy', policy: { origin: { path: POLICY_PATHS[0] ?? repository }, rules: [] }, sources: {}, texts: [] }
    : loaded;
}

export function operatorPolicyDigest(policy: Policy): string {
  return operatorPolicyText(policy).digest;
}

function operatorPolicyText(policy: Policy): SourceText {
  const text = JSON.stringify(policy);
  return { digest: hash('sha256', text), path: policy.origin.path, text };
}
