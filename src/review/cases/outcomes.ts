import { evaluate } from '../evaluation/evaluate.ts';
import type { Policy } from '../policy/schema.ts';
import { factsOf } from './given.ts';
import type { Case } from './parse.ts';
import { compare } from './run.ts';
import { type OutcomeWords, wordsFor } from './schema.ts';

/** A case that failed: only what is shown of it. */
export interface FailedCase extends Pick<Case, 'file' | 'line' | 'name'> {
  readonly rules: readonly { readonly rule: string; readonly expected: OutcomeWords; readonly found: OutcomeWords }[];
}

export interface CaseOutcomes {
  readonly passed: number;
  readonly failed: readonly FailedCase[];
}

/** Judges the pull requests of cases by a policy that has all the rules they name. In a thread: ReviewThreads.runCases. */
export function outcomesOf(policy: Policy, cases: readonly Case[]): CaseOutcomes {
  const results = cases.map((one) => compare(one, evaluate(policy, factsOf(one.given))));
  const failed = results.filter(({ passed }) => !passed);
  return {
    passed: results.length - failed.length,
    failed: failed.map(({ case: { file, line, name }, rules }) => ({
      file,
      line,
      ...(name === undefined ? {} : { name }),
      rules: rules
        .filter(({ passed }) => !passed)
        .map(({ expected, found }) => ({
          rule: expected.rule,
          expected: expected.outcome,
          found: wordsFor(found.outcome),
        })),
    })),
  };
}
