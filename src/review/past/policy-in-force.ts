import type { Forge } from '../../forges/port/forge.ts';
import type { JudgeOptions } from '../judge.ts';
import type { Fault } from '../policy/faults.ts';
import type { PolicyFile } from '../policy/load.ts';
import type { Policy } from '../policy/schema.ts';
import { presentPolicy } from '../present-policy.ts';

/** What a repository's next pull request into its default branch would be judged by. */
export type PolicyInForce =
  | { readonly kind: 'no-repository' }
  | { readonly kind: 'absent'; readonly branch: string }
  | { readonly kind: 'broken'; readonly faults: readonly Fault[] }
  /** `repository`: its present name. */
  | { readonly kind: 'policy'; readonly repository: string; readonly policy: Policy };

/** `file`: taken instead of the repository's own policy. */
export async function policyInForce(
  forge: Forge,
  name: string,
  parts: Pick<JudgeOptions, 'threads' | 'fallback' | 'baselineOf'>,
  file: PolicyFile | undefined,
): Promise<PolicyInForce> {
  const found = await forge.repository(name);
  if (found === undefined) {
    return { kind: 'no-repository' };
  }
  const { name: repository, defaultBranch: branch } = found;
  const commit = file === undefined ? await forge.branchCommit(repository, branch) : undefined;
  const present = await presentPolicy(forge, parts, repository, commit, file);
  switch (present.kind) {
    case 'absent':
      return { kind: 'absent', branch };
    case 'broken':
      return { kind: 'broken', faults: present.faults };
    case 'policy':
      return { kind: 'policy', repository, policy: present.policy };
  }
}
