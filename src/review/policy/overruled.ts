import { type Baseline, isBaselineOf } from './baseline.ts';
import type { LoadedPolicy } from './load.ts';
import { overruledBy } from './merge.ts';

/** Rules of a policy that are not used, because the organisation's baseline has locked rules of the same ids. */
export interface Overruled {
  readonly ruleIds: readonly string[];
  /** The policy repository; where it is private and the pull request is not, its owner. */
  readonly by: string;
  /** They are in the policy that the pull request proposes, not in the present one. */
  readonly proposed: boolean;
}

/** Of the proposed policy if there is one that can be used, else of the present one. Undefined when there are none. */
export function overruledRules(
  baseline: Baseline,
  present: LoadedPolicy,
  proposed: LoadedPolicy,
  { repository, hidden }: { readonly repository: string; readonly hidden: boolean },
): Overruled | undefined {
  const shown = proposed.kind === 'policy' ? proposed : present;
  if (baseline.kind !== 'policy' || shown.kind !== 'policy' || isBaselineOf(baseline, repository)) {
    return undefined;
  }
  const ruleIds = overruledBy(baseline.policy, shown.policy);
  const [owner = ''] = baseline.repository.split('/');
  return ruleIds.length === 0
    ? undefined
    : { ruleIds, by: hidden ? owner : baseline.repository, proposed: shown === proposed };
}
