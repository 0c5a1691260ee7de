import { readFile, stat, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type Uncovered, uncovered } from '../review/cases/coverage.ts';
import type { Case } from '../review/cases/parse.ts';
import { type CaseResult, runCases, unknownRules } from '../review/cases/run.ts';
import { OUTCOME_WORDS, wordsFor } from '../review/cases/schema.ts';
import { casesJsonSchema } from '../review/json-schema.ts';
import { MAX_CASES_BYTES } from '../review/limits.ts';
import type { Fault } from '../review/policy/faults.ts';
import { mergePolicies } from '../review/policy/merge.ts';
import { CASES_PATH, misnamedAmong, misnamedFault, POLICY_PATHS } from '../review/policy/paths.ts';
import type { Policy } from '../review/policy/policy.ts';
import { describeCases } from '../review/rendering/cases.ts';
import { junitXml } from '../review/rendering/junit.ts';
import { makePaint } from '../review/rendering/terminal.ts';
import type { ReviewWorkers } from '../review/workers/review-workers.ts';
import { firstPolicyFile, formatFaults, noPolicyAmong, policyFilesIn } from './check.ts';
import { defineCommand } from './command.ts';
import { reasonOf, UsageError } from './failures.ts';
import { hasColours, type Terminal } from './terminal.ts';

const PASSED = 0;
const FAILED = 1;
const UNUSABLE = 2;

export const test = defineCommand({
  name: 'test',
  usage: ['[policy file] [options]'],
  text: `Judges the pull request of each case by a policy, and compares each rule's result with what the case expects.
It doesn't need a forge, a database or settings. Without a file, it tests the first of
${POLICY_PATHS.map((path) => `  ${path}`).join('\n')}
that exists here. It runs the cases under "cases" in the policy, and those in ${CASES_PATH}:
  cases:
    - given: { title: 'Add docs', files: [{ path: docs/a.md }] }
      expect: { conventional-title: does not hold, tests-with-code: does not apply }
A rule ${OUTCOME_WORDS.slice(0, -1).join(', ')} or ${OUTCOME_WORDS.at(-1)}.`,
  options: {
    cases: { type: 'string', value: 'file', help: `the cases to run, instead of ${CASES_PATH}` },
    extends: { type: 'string', value: 'file', help: 'a copy of the policy that this one extends' },
    baseline: {
      type: 'boolean',
      default: false,
      help: "the policy is the organisation's baseline (POLICY_REPOSITORY), which can lock rules",
    },
    json: { type: 'boolean', default: false, help: 'print everything as one JSON object' },
    junit: { type: 'string', value: 'file', help: 'also write the results as JUnit XML' },
    schema: {
      type: 'boolean',
      default: false,
      help: `only print the JSON Schema of ${CASES_PATH}, for editors`,
    },
  },
  positionals: { most: 1, expected: 'at most one file' },
  exitCodes: {
    [PASSED]: 'all cases passed',
    [FAILED]: 'a case failed',
    [UNUSABLE]: 'the policy or the cases are invalid or unreadable, or there are no cases',
  },
  async run({ values, positionals: [policy] }, terminal) {
    if (values.schema) {
      terminal.stdout.write(`${JSON.stringify(casesJsonSchema(), null, 2)}\n`);
      return PASSED;
    }
    if (values.baseline && values.extends !== undefined) {
      throw new UsageError('--baseline and --extends cannot be combined: a baseline cannot extend another policy');
    }
    return testPolicy({ ...values, policy }, terminal);
  },
});

interface Options extends Paths {
  readonly json: boolean;
  readonly junit?: string | undefined;
}

async function testPolicy(
  options: Options,
  terminal: Terminal,
): Promise<typeof PASSED | typeof FAILED | typeof UNUSABLE> {
  const { folder } = terminal;
  const workers = terminal.startWorkers();
  try {
    const input = await readInput(options, workers, folder);
    const began = performance.now();
    const results = await runCases(input.policy, input.cases, workers.evaluate);
    const open = uncovered(input.policy, results);
    terminal.stdout.write(
      options.json
        ? `${JSON.stringify(asJson(results, open), null, 2)}\n`
        : describeCases(results, open, makePaint(hasColours(terminal))),
    );
    if (options.junit !== undefined) {
      await writeFile(resolve(folder, options.junit), junitXml(results, (performance.now() - began) / 1_000));
    }
    return results.every(({ passed }) => passed) ? PASSED : FAILED;
  } catch (error) {
    if (!(error instanceof UnusableInput)) {
      throw error;
    }
    terminal.stderr.write(error.message);
    return UNUSABLE;
  } finally {
    await workers.close();
  }
}

/** What keeps cases from being run, as it is printed. */
class UnusableInput extends Error {
  override readonly name = 'UnusableInput';
}

interface Input {
  readonly policy: Policy;
  readonly cases: readonly Case[];
}

interface Paths {
  readonly policy: string | undefined;
  readonly cases?: string | undefined;
  readonly extends?: string | undefined;
  readonly baseline: boolean;
}

/** Throws {@link UnusableInput}. */
async function readInput(paths: Paths, workers: ReviewWorkers, folder: string): Promise<Input> {
  const here = await policyFilesIn(folder);
  const path = paths.policy ?? firstPolicyFile(here);
  if (path === undefined) {
    throw new UnusableInput(`gatehouse test: ${noPolicyAmong(here)}`);
  }
  // Cases that nobody runs would pass.
  const misnamed = misnamedAmong(here).find(({ meant }) => meant === CASES_PATH);
  if (paths.cases === undefined && misnamed !== undefined) {
    throw new UnusableInput(formatFaults(misnamedFault(misnamed.path), ''));
  }
  const casesPath = paths.cases ?? CASES_PATH;
  const text = await readText(folder, path);
  const role = paths.baseline ? 'baseline' : 'own';
  const own = valid(await workers.parsePolicy(path, text, { path }, role), text).policy;
  const inPolicy = valid(await workers.parseCases(path, text, path, 'policy'), text).cases;
  const policy = paths.extends === undefined ? own : mergePolicies(await readExtended(paths.extends), own);

  const casesText =
    paths.cases !== undefined || here.includes(CASES_PATH) ? await readText(folder, casesPath) : undefined;
  const inFile =
    casesText === undefined
      ? []
      : valid(await workers.parseCases(casesPath, casesText, casesPath, 'cases'), casesText).cases;
  const cases = [...inPolicy, ...inFile];
  if (cases.length === 0) {
    throw new UnusableInput(`gatehouse test: no cases: ${path} has no "cases", and there are none in ${casesPath}\n`);
  }
  throwFaults(unknownRules(policy, inPolicy), text);
  throwFaults(unknownRules(policy, inFile), casesText ?? '');
  return { policy, cases };

  async function readExtended(file: string): Promise<Policy> {
    const extended = await readText(folder, file);
    return valid(await workers.parsePolicy(file, extended, { path: file }, 'extended'), extended).policy;
  }
}

async function readText(folder: string, path: string): Promise<string> {
  const file = resolve(folder, path);
  try {
    const { size } = await stat(file);
    if (size > MAX_CASES_BYTES) {
      throw new UnusableInput(`${path}:1:1: the file is too large: ${size} bytes of at most ${MAX_CASES_BYTES}\n`);
    }
    return await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof UnusableInput) {
      throw error;
    }
    throw new UnusableInput(`gatehouse test: cannot read ${path}: ${reasonOf(error)}\n`);
  }
}

type Parsed<T> = ({ readonly ok: true } & T) | { readonly ok: false; readonly faults: readonly Fault[] };

function valid<T>(parsed: Parsed<T>, text: string): T {
  if (!parsed.ok) {
    throw new UnusableInput(formatFaults(parsed.faults, text));
  }
  return parsed;
}

function throwFaults(faults: readonly Fault[], text: string): void {
  if (faults.length > 0) {
    throw new UnusableInput(formatFaults(faults, text));
  }
}

function asJson(results: readonly CaseResult[], open: readonly Uncovered[]): object {
  const passed = results.filter((result) => result.passed).length;
  return {
    passed,
    failed: results.length - passed,
    cases: results.map(({ case: { file, line, name }, passed: ok, rules }) => ({
      file,
      line,
      ...(name === undefined ? {} : { name }),
      passed: ok,
      rules: rules.map(({ expected, found, passed: met }) => ({
        id: expected.rule,
        line: expected.line,
        expected: expected.outcome,
        found: wordsFor(found.outcome),
        passed: met,
        ...(found.rule.level === 'observe' ? { observed: true } : {}),
      })),
    })),
    uncovered: open,
  };
}
