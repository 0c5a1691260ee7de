import { readFile } from 'node:fs/promises';
import { ConfigurationError } from '../config/config.ts';
import type { Policy } from '../review/policy/policy.ts';
import type { ReviewWorkers } from '../review/workers/review-workers.ts';

/** Reads the operator's policy from disk. Throws a {@link ConfigurationError} that names every fault with its place. */
export async function readPolicyFile(path: string, workers: ReviewWorkers): Promise<Policy> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
    throw new ConfigurationError(`POLICY_FILE: cannot read ${path} (${code})`, { cause: error });
  }
  const parsed = await workers.parsePolicy(path, text, { path, repository: 'the operator of Gatehouse' });
  if (!parsed.ok) {
    const faults = parsed.faults.map(({ file, line, column, message }) => `${file}:${line}:${column}: ${message}`);
    throw new ConfigurationError(`POLICY_FILE cannot be used:\n${faults.join('\n')}`);
  }
  if (parsed.policy.extends !== undefined) {
    throw new ConfigurationError(
      `POLICY_FILE cannot be used: ${path} has "extends", which only a repository's policy may have`,
    );
  }
  return parsed.policy;
}
