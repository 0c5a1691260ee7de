import type { StatusState } from '../../forges/port/postings.ts';
import type { JudgedCases } from '../cases/judge-cases.ts';
import type { NeededFacts } from '../facts.ts';
import type { PolicyFile } from '../policy/load.ts';

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

/** A policy that a pull request proposes, and what other pull requests can be judged by it with. */
export interface ProposedPolicy {
  readonly file: PolicyFile;
  /** Of it, of what it extends, and of what it comes on top of. */
  readonly digest: string;
  /** What the present policy of the base branch reads: nobody learns by a proposal who is in another team. */
  readonly present: Pick<NeededFacts, 'teams' | 'codeOwners'>;
}
