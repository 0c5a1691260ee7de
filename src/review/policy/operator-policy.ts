import { hash } from 'node:crypto';
import { NO_PEOPLE_SETTINGS } from '../../facts/authors/people-settings.ts';
import type { PullRequest } from '../../forges/port/pull-request.ts';
import type { SourceText } from '../sources.ts';
import type { LoadedPolicy } from './load.ts';
import { POLICY_PATHS } from './paths.ts';
import type { Policy } from './policy.ts';

/** The operator's policy is for repositories that have none of their own. */
export function orOperatorPolicy(loaded: LoadedPolicy, fallback: Policy | undefined): LoadedPolicy {
  if (loaded.kind !== 'absent' || fallback === undefined) {
    return loaded;
  }
  const text = operatorPolicyText(fallback);
  return { kind: 'policy', policy: fallback, sources: { operatorPolicyDigest: text.digest }, texts: [text] };
}

/** The first policy of a repository is checked as well, in the pull request that adds it. */
export function orProposed(loaded: LoadedPolicy, { repository }: PullRequest, proposes: boolean): LoadedPolicy {
  return loaded.kind === 'absent' && proposes
    ? {
        kind: 'policy',
        policy: { origin: { path: POLICY_PATHS[0] ?? repository }, rules: [], ...NO_PEOPLE_SETTINGS },
        sources: {},
        texts: [],
      }
    : loaded;
}

export function operatorPolicyDigest(policy: Policy): string {
  return operatorPolicyText(policy).digest;
}

function operatorPolicyText(policy: Policy): SourceText {
  const text = JSON.stringify(policy);
  return { digest: hash('sha256', text), path: policy.origin.path, text };
}
