import { hash } from 'node:crypto';
import type { Checks } from '../../forges/port/checks.ts';
import type { Forge } from '../../forges/port/forge.ts';
import { ForgeError } from '../../forges/port/forge-error.ts';
import { isContextOf } from '../status-context.ts';

/**
 * What others reported about a commit. Neither what Gatehouse's own account reported counts, nor a status that has the
 * name of Gatehouse's own, whoever set it: a verdict must not depend on itself.
 */
export async function readOthersChecks(
  forge: Forge,
  repository: string,
  sha: string,
  statusContext: string,
): Promise<Checks> {
  const [self, { checks, complete }] = await Promise.all([forge.self(), readChecks(forge, repository, sha)]);
  const others = checks.filter(
    ({ name, reporter }) => reporter.toLowerCase() !== self.toLowerCase() && !isContextOf(statusContext, name),
  );
  return { checks: others, complete };
}

/**
 * Incomplete where asking again would bring no other answer, such as a missing permission or a list that is too long.
 */
async function readChecks(forge: Forge, repository: string, sha: string): Promise<Checks> {
  try {
    return await forge.checks(repository, sha);
  } catch (error) {
    if (error instanceof ForgeError && (error.kind === 'refused' || error.kind === 'invalid')) {
      return { checks: [], complete: false };
    }
    throw error;
  }
}

/** Of the same checks in any order the same, in hexadecimal. */
export function checksDigest({ checks, complete }: Checks): string {
  const sorted = checks.map(({ kind, name, reporter, state }) => JSON.stringify([kind, name, reporter, state])).sort();
  return hash('sha256', JSON.stringify([complete, sorted]));
}
