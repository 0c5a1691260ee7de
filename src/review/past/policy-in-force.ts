import type { Forge } from '../../forges/forge.ts';
import type { JudgeOptions } from '../judge.ts';
import { isBaselineOf, withBaseline } from '../policy/baseline.ts';
import type { Fault } from '../policy/faults.ts';
import { type LoadedPolicy, loadPolicy, type ParsePolicy, type PolicyFile } from '../policy/load.ts';
import type { Policy } from '../policy/schema.ts';

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
  { threads, fallback, baselineOf }: Pick<JudgeOptions, 'threads' | 'fallback' | 'baselineOf'>,
  file: PolicyFile | undefined,
): Promise<PolicyInForce> {
  const found = await forge.repository(name);
  if (found === undefined) {
    return { kind: 'no-repository' };
  }
  const { name: repository, defaultBranch: branch } = found;
  const parse: ParsePolicy = (text, origin, role) => threads.parsePolicy(repository, text, origin, role);
  const baseline = await baselineOf(repository);
  const commit = file === undefined ? await forge.branchCommit(repository, branch) : '';
  const role = isBaselineOf(baseline, repository) ? 'baseline' : 'own';
  const loaded: LoadedPolicy =
    commit === undefined ? { kind: 'absent' } : await loadPolicy(forge, parse, repository, commit, { role, file });
  const own: LoadedPolicy =
    loaded.kind === 'absent' && fallback !== undefined
      ? { kind: 'policy', policy: fallback, sources: {}, texts: [] }
      : loaded;
  const present = withBaseline(baseline, own, { repository, hidden: false });
  switch (present.kind) {
    case 'absent':
      return { kind: 'absent', branch };
    case 'broken':
      return { kind: 'broken', faults: present.faults };
    case 'policy':
      return { kind: 'policy', repository, policy: present.policy };
  }
}
