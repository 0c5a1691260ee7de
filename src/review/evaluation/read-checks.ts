import { hash } from 'node:crypto';
import type { AskedChecks, Check, Checks } from '../../forges/port/checks.ts';
import type { Forge } from '../../forges/port/forge.ts';
import { ForgeError } from '../../forges/port/forge-error.ts';
import { isContextOf } from '../status-context.ts';

/** Whose checks are read, and how Gatehouse's own are told apart from those of others. */
export interface OthersChecks extends AskedChecks {
  readonly repository: string;
  readonly sha: string;
  readonly statusContext: string;
}

/**
 * What others reported about a commit. Neither what Gatehouse's own account reported counts, nor a status that has the
 * name of Gatehouse's own, whoever set it: a verdict must not depend on itself.
 */
export async function readOthersChecks(
  forge: Forge,
  { repository, sha, statusContext, suites }: OthersChecks,
): Promise<Checks> {
  const [self, { checks, complete, bySuite }] = await Promise.all([
    forge.self(),
    readChecks(forge, repository, sha, { suites }),
  ]);
  const isOthers = ({ reporter }: { readonly reporter: string }) => reporter.toLowerCase() !== self.toLowerCase();
  const counts = (check: Check) => isOthers(check) && !isContextOf(statusContext, check.name);
  return {
    checks: checks.filter(counts),
    complete,
    ...(bySuite && { bySuite: { suites: bySuite.suites.filter(isOthers), runs: bySuite.runs.filter(counts) } }),
  };
}

/**
 * Incomplete where asking again would bring no other answer, such as a missing permission or a list that is too long.
 */
async function readChecks(forge: Forge, repository: string, sha: string, ask: AskedChecks): Promise<Checks> {
  try {
    return await forge.checks(repository, sha, ask);
  } catch (error) {
    if (error instanceof ForgeError && (error.kind === 'refused' || error.kind === 'invalid')) {
      return { checks: [], complete: false };
    }
    throw error;
  }
}

/** The same for the same checks in any order. In hexadecimal. */
export function checksDigest({ checks, complete, bySuite }: Checks): string {
  const listed = checks.map(({ kind, name, reporter, state }) => JSON.stringify([kind, name, reporter, state])).sort();
  const grouped = bySuite && [
    bySuite.suites.map(({ id, reporter, state }) => JSON.stringify([id, reporter, state])).sort(),
    bySuite.runs.map(({ suite, name, reporter, state }) => JSON.stringify([suite, name, reporter, state])).sort(),
  ];
  return hash('sha256', JSON.stringify([complete, listed, ...(grouped === undefined ? [] : [grouped])]));
}
