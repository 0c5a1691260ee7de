import type { Needs } from '../../facts/table.ts';
import type { StatusState } from '../../forges/port/postings.ts';
import type { CasesFile, JudgedCases } from '../cases/judge-cases.ts';
import type { Fault } from '../policy/faults.ts';
import type { PolicyFile } from '../policy/load.ts';
import type { Policy } from '../policy/policy.ts';

/** What a pull request that changes the policy, or its cases, would bring in. */
export interface Proposal {
  /**
   * The cases as the head commit has them, judged by its policy. `none` also where there is no policy to judge them by.
   */
  readonly cases: JudgedCases;
  /** Absent as long as it is not known, and where the author may not write to the repository. */
  readonly impact?: Impact;
}

/** What the proposed policy would mean for other open pull requests into the branch. */
export interface Impact {
  readonly judged: readonly ImpactOn[];
  /** Pull requests that were not judged, because of a limit or because the forge did not answer. */
  readonly leftOut: number | 'too many to list';
}

export interface ImpactOn {
  readonly number: number;
  readonly state: StatusState;
  /** Ids of the rules that the state comes from. */
  readonly rules: readonly string[];
  /** Its present verdict; null: not known. `none`: no policy asks anything of it. */
  readonly now: string | null;
}

/** What a review finds out about a proposal once the verdict is shown, which does not depend on it. */
export interface ReadProposal {
  /** The digest of the policy, what it extends, its baseline, the base branch and the cases. */
  readonly digest: string;
  readonly cases: ProposedCases;
  /** Absent where other pull requests are not judged by it. */
  readonly policy?: ProposedPolicy;
}

/** The cases as they were read. They were not parsed: their author may be anybody. */
export type ProposedCases =
  | { readonly kind: 'faulty'; readonly fault: Fault }
  | { readonly kind: 'read'; readonly policy: Policy; readonly files: readonly CasesFile[] };

/** A policy that a pull request proposes, and what other pull requests can be judged by it with. */
export interface ProposedPolicy {
  readonly file: PolicyFile;
  /** What the present policy of the base branch reads: nobody learns by a proposal who is in another team. */
  readonly present: Pick<Needs, 'teams' | 'codeOwners'>;
}
