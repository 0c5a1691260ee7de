import type { FailedCase } from '../cases/outcomes.ts';
import type { Fault } from '../policy/faults.ts';

/** What a pull request that changes the policy, or its cases, would bring in. */
export interface Proposal {
  readonly cases: ProposedCases;
}

/** The cases as the head commit has them, judged by its policy. */
export type ProposedCases =
  /** There are none, or no policy that they could be judged by. */
  | { readonly kind: 'none' }
  | { readonly kind: 'faulty'; readonly faults: readonly Fault[] }
  | {
      readonly kind: 'run';
      readonly passed: number;
      /** The first of them. */
      readonly failed: readonly FailedCase[];
      readonly failures: number;
      /** Those that were not run, because the ones before took more time or memory than they may. */
      readonly notRun: number;
      /** Those that name a rule of a private policy: what it asks for must not come to light by cases. */
      readonly ofPrivateRules: number;
    };
