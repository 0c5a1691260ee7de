import type { Forge } from '../../forges/port/forge.ts';
import { ForgeError } from '../../forges/port/forge-error.ts';
import type { PullRequest } from '../../forges/port/pull-request.ts';
import type { CasesFile, JudgedCases } from '../cases/judge-cases.ts';
import type { Verdict } from '../evaluation/verdict.ts';
import { MAX_CASES_BYTES } from '../limits.ts';
import type { Fault } from '../policy/faults.ts';
import type { LoadedPolicy } from '../policy/load.ts';
import { CASES_PATH } from '../policy/paths.ts';
import type { ReviewThreads } from '../threads/review-threads.ts';

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
): Promise<JudgedCases> {
  if (proposed.kind !== 'policy') {
    return { kind: 'none' };
  }
  const [own] = proposed.texts;
  const file = await readCases(forge, head.repository ?? repository, head.sha);
  if (typeof file === 'object') {
    return { kind: 'faulty', faults: [file] };
  }
  const files: readonly CasesFile[] = [
    ...(own === undefined ? [] : [{ path: own.path, text: own.text, role: 'policy' } as const]),
    ...(file === undefined ? [] : [{ path: CASES_PATH, text: file, role: 'cases' } as const]),
  ];
  return files.length === 0 ? { kind: 'none' } : threads.judgeCases(repository, proposed.policy, files);
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
