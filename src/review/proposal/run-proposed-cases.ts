import type { Forge } from '../../forges/port/forge.ts';
import { ForgeError } from '../../forges/port/forge-error.ts';
import type { PullRequest } from '../../forges/port/pull-request.ts';
import type { CaseOutcomes } from '../cases/outcomes.ts';
import type { Case, CasesRole } from '../cases/parse.ts';
import { unknownRules } from '../cases/run.ts';
import type { Verdict } from '../evaluation/verdict.ts';
import { MAX_CASES_BYTES } from '../limits.ts';
import type { Fault } from '../policy/faults.ts';
import type { LoadedPolicy } from '../policy/load.ts';
import { CASES_PATH } from '../policy/paths.ts';
import type { Policy } from '../policy/schema.ts';
import type { ReviewThreads } from '../threads/review-threads.ts';
import type { ProposedCases } from './proposal.ts';

/** Failed cases that are kept. The others are counted. */
const MAX_FAILED_KEPT = 10;
/** Cases that have the limits of one task together: 5,000 of them take ten seconds of one thread at most. */
const CASES_OF_A_TASK = 1_000;

/** What to say of a proposal, beside the faults of its policy; nothing where there are no cases. */
export async function judgeProposal(
  forge: Forge,
  threads: ReviewThreads,
  pullRequest: PullRequest,
  proposed: LoadedPolicy,
): Promise<Pick<Verdict, 'proposal'>> {
  const cases = await runProposedCases(forge, threads, pullRequest, proposed);
  return cases.kind === 'none' ? {} : { proposal: { cases } };
}

/** Runs the cases that the head commit has, in its policy file and in `.gatehouse.test.yml`, by its policy. */
async function runProposedCases(
  forge: Forge,
  threads: ReviewThreads,
  { repository, head }: PullRequest,
  proposed: LoadedPolicy,
): Promise<ProposedCases> {
  if (proposed.kind !== 'policy') {
    return { kind: 'none' };
  }
  const [own] = proposed.texts;
  const file = await readCases(forge, head.repository ?? repository, head.sha);
  if (typeof file === 'object') {
    return { kind: 'faulty', faults: [file] };
  }
  const cases: Case[] = [];
  const faults: Fault[] = [];
  const collect = async (text: string, path: string, role: CasesRole) => {
    const parsed = await threads.parseCases(repository, text, path, role);
    if (parsed.ok) {
      cases.push(...parsed.cases);
    } else {
      faults.push(...parsed.faults);
    }
  };
  if (own !== undefined) {
    await collect(own.text, own.path, 'policy');
  }
  if (file !== undefined) {
    await collect(file, CASES_PATH, 'cases');
  }
  faults.push(...unknownRules(proposed.policy, cases));
  if (faults.length > 0) {
    return { kind: 'faulty', faults };
  }
  return cases.length === 0 ? { kind: 'none' } : run(threads, repository, proposed.policy, cases);
}

/** The text, what is wrong with the file, or undefined where there is none. */
async function readCases(forge: Forge, repository: string, commit: string): Promise<string | Fault | undefined> {
  try {
    return await forge.fileAt(repository, CASES_PATH, commit);
  } catch (error) {
    if (error instanceof ForgeError && error.kind === 'too-large') {
      return fault(`the file is too large: cases have at most ${MAX_CASES_BYTES} bytes`);
    }
    if (error instanceof ForgeError && error.kind === 'not-a-file') {
      return fault(`${error.message}; cases must be in a file`);
    }
    throw error;
  }
}

function fault(message: string): Fault {
  return { file: CASES_PATH, line: 1, column: 1, message };
}

async function run(
  threads: ReviewThreads,
  repository: string,
  policy: Policy,
  cases: readonly Case[],
): Promise<ProposedCases> {
  const hidden = new Set(policy.rules.flatMap(({ id, hidden: isHidden }) => (isHidden ? [id] : [])));
  const shown = cases.filter(({ expect }) => !expect.some(({ rule }) => hidden.has(rule)));
  const visible = { ...policy, rules: policy.rules.filter(({ id }) => !hidden.has(id)) };
  const done: CaseOutcomes[] = [];
  for (let first = 0; first < shown.length; first += CASES_OF_A_TASK) {
    const outcomes = await threads.runCases(repository, visible, shown.slice(first, first + CASES_OF_A_TASK));
    if (outcomes === undefined) {
      break;
    }
    done.push(outcomes);
  }
  const failed = done.flatMap((outcomes) => outcomes.failed);
  const passed = done.reduce((sum, outcomes) => sum + outcomes.passed, 0);
  return {
    kind: 'run',
    passed,
    failed: failed.slice(0, MAX_FAILED_KEPT),
    failures: failed.length,
    notRun: shown.length - passed - failed.length,
    ofPrivateRules: cases.length - shown.length,
  };
}
