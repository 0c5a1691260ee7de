import { factsOf } from '../../facts/table.ts';
import { evaluate } from '../evaluation/evaluate.ts';
import type { Fault } from '../policy/faults.ts';
import type { Policy } from '../policy/policy.ts';
import { type Case, type CasesRole, parseCases } from './parse.ts';
import { type CaseResult, compare, unknownRules } from './run.ts';
import { type OutcomeWords, wordsFor } from './schema.ts';

/** Failed cases that are kept. The others are counted. */
const MAX_FAILED_KEPT = 10;

/** A file that may have cases. */
export interface CasesFile {
  readonly path: string;
  readonly text: string;
  readonly role: CasesRole;
}

/** A case that failed: only what is shown of it. */
export interface FailedCase extends Pick<Case, 'file' | 'line' | 'name'> {
  readonly rules: readonly { readonly rule: string; readonly expected: OutcomeWords; readonly found: OutcomeWords }[];
}

/** What happened to the cases of some files. Bounded, whatever they contain. */
export type JudgedCases =
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

/**
 * Reads the cases of files and judges their pull requests by a policy. `onRead` is called with the number of cases that
 * will be judged; after `isTimeUp` the rest is left out. In a worker: ReviewWorkers.judgeCases.
 */
export function judgeCases(
  policy: Policy,
  files: readonly CasesFile[],
  onRead: (cases: number) => void = () => {},
  isTimeUp: () => boolean = () => false,
): JudgedCases {
  const parsed = files.map(({ text, path, role }) => parseCases(text, path, role));
  const cases = parsed.flatMap((file) => (file.ok ? file.cases : []));
  const faults = [...parsed.flatMap((file) => (file.ok ? [] : file.faults)), ...unknownRules(policy, cases)];
  if (faults.length > 0) {
    return { kind: 'faulty', faults };
  }
  if (cases.length === 0) {
    return { kind: 'none' };
  }
  const hidden = new Set(policy.rules.flatMap(({ id, hidden: isHidden }) => (isHidden ? [id] : [])));
  const shown = cases.filter(({ expect }) => !expect.some(({ rule }) => hidden.has(rule)));
  const visible = { ...policy, rules: policy.rules.filter(({ id }) => !hidden.has(id)) };
  onRead(shown.length);
  const counts = { passed: 0, failures: 0 };
  const failed: FailedCase[] = [];
  for (const one of shown) {
    if (isTimeUp()) {
      break;
    }
    const result = compare(one, evaluate(visible, factsOf(one.given)));
    if (result.passed) {
      counts.passed += 1;
      continue;
    }
    counts.failures += 1;
    if (failed.length < MAX_FAILED_KEPT) {
      failed.push(shownOf(result));
    }
  }
  const notRun = shown.length - counts.passed - counts.failures;
  return { kind: 'run', ...counts, failed, notRun, ofPrivateRules: cases.length - shown.length };
}

function shownOf({ case: { file, line, name }, rules }: CaseResult): FailedCase {
  return {
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
  };
}
