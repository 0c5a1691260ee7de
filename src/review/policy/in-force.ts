import type { Forge } from '../../forges/port/forge.ts';
import { type Baseline, type BaselineOf, isBaselineOf, withBaseline } from './baseline.ts';
import { type IsMeant, isHiddenIn, type LoadedPolicy, loadPolicy, type PolicyFile, parseFor } from './load.ts';
import { orOperatorPolicy } from './operator-policy.ts';
import type { PolicyRole, PolicyWorkers } from './parse.ts';
import type { Policy } from './policy.ts';

/** Where policies come from: the same for all pull requests. */
export interface PolicyContext {
  readonly forge: Forge;
  readonly workers: PolicyWorkers;
  /** The operator's policy, for repositories that have none of their own. */
  readonly fallback: Policy | undefined;
  readonly baselineOf: BaselineOf;
  readonly isMeant?: IsMeant;
}

export interface PolicyPlace {
  readonly repository: string;
  /** The base branch's commit; undefined: there is no such branch, and so no policy of its own. */
  readonly commit: string | undefined;
  /** Taken instead of the repository's own policy. */
  readonly file?: PolicyFile | undefined;
  /** Whether the result is shown on the forge: then a baseline that fewer people can read is hidden in it. */
  readonly shown: boolean;
}

export interface PolicyInForce {
  /** What pull requests are judged by. */
  readonly policy: LoadedPolicy;
  /** The repository's own policy, with what it extends. */
  readonly own: LoadedPolicy;
  readonly baseline: Baseline;
  /** Whether `policy` hides the baseline. */
  readonly hidden: boolean;
  /** How the repository's own files are parsed: only the organisation's policy repository has a baseline. */
  readonly role: PolicyRole;
}

/**
 * Which policy applies to pull requests into a branch. In this order:
 *
 * 1. The organisation's baseline (POLICY_REPOSITORY) comes first. Its locked rules stay, and where it is broken nothing
 *    can be judged.
 * 2. The repository's own policy is that of the base branch, or `file`, merged over what it extends.
 * 3. A repository without one has the operator's (POLICY_FILE).
 * 4. In the policy repository itself the policy is the baseline, and it is judged by the baseline in force.
 *
 * Nobody else decides this: reviews, merge groups, commands in comments, and the commands of the terminal all ask here.
 */
export async function policyInForce(
  { forge, workers, fallback, baselineOf, isMeant }: PolicyContext,
  { repository, commit, file, shown }: PolicyPlace,
): Promise<PolicyInForce> {
  const baseline = await baselineOf(repository);
  const role = isBaselineOf(baseline, repository) ? 'baseline' : 'own';
  const own: LoadedPolicy =
    commit === undefined && file === undefined
      ? { kind: 'absent' }
      : await loadPolicy(forge, parseFor(workers, repository), repository, commit ?? '', {
          role,
          file,
          trusts: isMeant && ((now) => isMeant(now, true)),
        });
  const beside = orOperatorPolicy(own, fallback);
  const hidden = shown && baseline.kind !== 'none' && (await isHiddenIn(forge, baseline.visibility, repository));
  return {
    policy: withBaseline(baseline, beside, { repository, hidden }),
    own,
    baseline,
    hidden,
    role,
  };
}
