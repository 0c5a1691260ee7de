import type { Forge } from '../../forges/port/forge.ts';
import { ForgeError, UnknownCommitError } from '../../forges/port/forge-error.ts';
import type { PullRequest } from '../../forges/port/pull-request.ts';
import type { CasesFile, JudgedCases } from '../cases/judge-cases.ts';
import { MAX_CASES_BYTES } from '../limits.ts';
import type { Fault } from '../policy/faults.ts';
import type { LoadedPolicy } from '../policy/load.ts';
import { CASES_PATH } from '../policy/paths.ts';
import type { ReviewWorkers } from '../workers/review-workers.ts';
import type { ProposedCases } from './proposal.ts';

/** The cases that the head commit has, in its policy file and in `.gatehouse.test.yml`, and its policy. */
export async function readProposedCases(
  forge: Forge,
  pullRequest: PullRequest,
  { policy, texts: [own] }: Extract<LoadedPolicy, { kind: 'policy' }>,
): Promise<ProposedCases> {
  const file = await atHead(pullRequest, (repository) => readCases(forge, repository, pullRequest.head.sha));
  if (typeof file === 'object') {
    return { kind: 'faulty', fault: file };
  }
  const files: readonly CasesFile[] = [
    ...(own === undefined ? [] : [{ path: own.path, text: own.text, role: 'policy' } as const]),
    ...(file === undefined ? [] : [{ path: CASES_PATH, text: file, role: 'cases' } as const]),
  ];
  return { kind: 'read', policy, files };
}

/**
 * Reads from the repository of the head. The commits of a fork that is deleted, or that Gatehouse may not read, are in
 * the repository itself, too.
 */
export async function atHead<T>(
  { repository, head }: PullRequest,
  read: (repository: string) => Promise<T>,
): Promise<T> {
  try {
    return await read(head.repository ?? repository);
  } catch (error) {
    if (error instanceof UnknownCommitError && head.repository !== null && head.repository !== repository) {
      return read(repository);
    }
    throw error;
  }
}

/** In a worker, within the limits of one task. */
export async function runProposedCases(
  workers: Pick<ReviewWorkers, 'judgeCases'>,
  repository: string,
  cases: ProposedCases,
): Promise<JudgedCases> {
  if (cases.kind === 'faulty') {
    return { kind: 'faulty', faults: [cases.fault] };
  }
  return cases.files.length === 0 ? { kind: 'none' } : workers.judgeCases(repository, cases.policy, cases.files);
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
