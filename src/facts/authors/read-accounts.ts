import type { Accounts } from '../../forges/port/accounts.ts';
import type { Forge } from '../../forges/port/forge.ts';
import { ForgeError } from '../../forges/port/forge-error.ts';
import type { Commit } from '../../forges/port/pull-request.ts';
import { accountsAmong } from './authors.ts';
import { coAuthorsOf } from './co-authors.ts';

/** Addresses that the forge is asked about for one pull request. Those left out leave it undecided who made it. */
const MAX_ASKED = 20;

/**
 * The accounts of the co-authors of commits, by e-mail address. The forge is asked only for those that neither came
 * with the commits (`preloaded`) nor belong to the author or committer of one.
 */
export async function readAccounts(
  forge: Forge,
  repository: string,
  commits: readonly Commit[],
  trailers: readonly string[],
  preloaded: ReadonlyMap<string, string | null> = new Map(),
): Promise<ReadonlyMap<string, string | null>> {
  const listed = accountsAmong(commits);
  const { coAuthors } = coAuthorsOf(commits, trailers);
  const unknown = coAuthors.flatMap(({ sha, address }) =>
    address === undefined || preloaded.has(address) || listed.has(address) ? [] : [{ sha, address }],
  );
  const asked = unknown.slice(0, MAX_ASKED);
  return asked.length === 0
    ? preloaded
    : new Map([...preloaded, ...(await unlessUnreadable(forge.accounts(repository, asked)))]);
}

/** Logged only where asking again may bring another answer: not for a missing permission. */
async function unlessUnreadable(reading: Promise<Accounts>): Promise<Accounts> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof ForgeError && ['refused', 'invalid', 'too-large'].includes(error.kind)) {
      return new Map();
    }
    throw error;
  }
}
