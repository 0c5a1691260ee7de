import * as z from 'zod';
import { hiddenAddress } from '../forges/port/accounts.ts';
import type { Forge } from '../forges/port/forge.ts';
import { ForgeError } from '../forges/port/forge-error.ts';
import type { Commit, PullRequest } from '../forges/port/pull-request.ts';
import { yesNo } from '../forges/port/yes-no.ts';
import type { AuthoredCommits } from './authors/authors.ts';
import { coAuthorsOf } from './authors/co-authors.ts';
import { withMakers } from './authors/makers.ts';
import { readAccounts } from './authors/read-accounts.ts';
import { trailersOf } from './authors/trailers.ts';
import { defineFact, NOTHING_MORE, orUnread, type Reading } from './fact.ts';
import { count, flag, text } from './given.ts';

/**
 * - `authors`: whom the messages name as co-authors.
 * - `signatures`: whether each has a signature that the forge has verified; `signers`: also whose it is.
 */
export type CommitPart = 'authors' | 'signatures' | 'signers';

const UNREAD: AuthoredCommits = { commits: [], complete: false, accounts: new Map() };

const commit = z.strictObject(
  {
    message: text.describe('The whole message.'),
    email: text.optional().describe('Of the author.'),
    parents: count.optional().describe('How many it has: 2 are a merge. Default: 1.'),
    author: text.nullable().optional().describe('A login; null where no account has the e-mail address.'),
    committer: text.nullable().optional().describe('A login; null where no account has the e-mail address.'),
    pushed_by: text.optional().describe('The login of who pushed it. Default: its author.'),
    verified: flag
      .nullable()
      .optional()
      .describe('Whether its signature is verified; null where the forge does not say.'),
    signed_by: text
      .nullable()
      .optional()
      .describe("The login of whose verified signature it has; null where it is the forge's own. Default: unknown."),
    clean: flag.optional().describe('Whether it is a merge that changes nothing itself.'),
  },
  { error: "a commit, such as { message: 'Fix it' }" },
);

export const givenCommits = {
  commits: z.array(commit, { error: 'a list of commits' }).optional().describe('Oldest first. Default: none.'),
};

/** The commits of the pull request, and who made them. Incomplete when they are more than the forge lists. */
export const commits = defineFact({
  name: 'commits',
  unread: UNREAD,
  unreadAs: 'commits',
  unreadAfter: ['too-large'],
  dependsOn: [],
  async read(reading, parts: readonly CommitPart[]) {
    const { pullRequest, authorTrailers, makers } = reading;
    const listed = await readCommits(reading, parts);
    return parts.includes('authors') ? withMakers(listed, pullRequest, authorTrailers, makers) : listed;
  },
  change: 'commits',
  forges: NOTHING_MORE,
  given: {
    shape: {
      ...givenCommits,
      commits_complete: flag.optional().describe('false: there are more commits, which could not be read.'),
      accounts: z
        .record(z.string(), text, { error: 'a mapping of e-mail addresses to logins' })
        .optional()
        .describe('Logins by e-mail address, of co-authors. An address that is not here belongs to no account.'),
      accounts_unread: flag.optional().describe('true: the accounts of co-authors could not be read.'),
    },
    of: (from) => ({
      commits: (from.commits ?? []).map(commitOf),
      complete: from.commits_complete ?? true,
      accounts: accountsOf(from),
      pushers: new Map(
        (from.commits ?? []).map(({ pushed_by }, index) => [
          givenSha(index),
          new Set(pushed_by === undefined ? [] : [pushed_by.toLowerCase()]),
        ]),
      ),
    }),
  },
});

/**
 * An empty list is believed only where the base branch has the head: what asks of every commit, and who committed,
 * would be decided by commits that the forge does not show.
 */
export async function readCommits(
  {
    forge,
    pullRequest,
    authorTrailers,
    preloaded,
  }: Pick<Reading<unknown>, 'forge' | 'pullRequest' | 'authorTrailers' | 'preloaded'>,
  parts: readonly CommitPart[],
): Promise<AuthoredCommits> {
  const [signatures, signers] = [parts.includes('signatures'), parts.includes('signers')];
  const came = signatures ? undefined : preloaded.commits;
  return orUnread<AuthoredCommits>({ unread: UNREAD, unreadAfter: ['too-large'] }, async () => {
    const listed = came ?? (await forge.commits(pullRequest, { signatures, signers }));
    await requireWhole(forge, pullRequest, listed);
    const accounts = parts.includes('authors')
      ? await readAccounts(forge, pullRequest.repository, listed, authorTrailers, preloaded.accounts)
      : new Map<string, string | null>();
    return { commits: listed, complete: true, accounts };
  });
}

async function requireWhole(forge: Forge, pullRequest: PullRequest, listed: readonly Commit[]): Promise<void> {
  const { repository, number, head, state } = pullRequest;
  if (listed.length > 0 && !endsAt(listed, head.sha)) {
    throw new ForgeError(
      'unavailable',
      `${repository}#${number}: the forge lists the commits of another commit than the head ${head.sha}`,
    );
  }
  if (listed.length === 0 && !(await isInBase(forge, pullRequest))) {
    const message = `${repository}#${number}: the forge lists no commits of this pull request, and it must have some`;
    // The list of a merged one stays as it is: Gitea merged it before it had computed what it is compared with.
    throw new ForgeError(state === 'open' ? 'unavailable' : 'invalid', message);
  }
}

/** Whether an open pull request brings nothing in. The base branch of a merged one has it anyway: that says nothing. */
async function isInBase(forge: Forge, { repository, state, base, head }: PullRequest): Promise<boolean> {
  const tip = state === 'open' ? await forge.branchCommit(repository, base.branch) : undefined;
  return tip !== undefined && (tip === head.sha || (await forge.isAncestor(repository, head.sha, tip)));
}

/** The head may move, and move back, while they are read. */
function endsAt(listed: readonly Commit[], headSha: string): boolean {
  return listed.some(({ sha }) => sha === headSha) && !listed.some(({ parents }) => parents.includes(headSha));
}

/** The id of the commit at this place of the list. */
export function givenSha(index: number): string {
  return index.toString(16).padStart(40, '0');
}

function commitOf(
  { message, email, parents, author, committer, verified, signed_by }: z.input<typeof commit>,
  index: number,
): Commit {
  const person = {
    name: 'Alice',
    email: email ?? 'alice@example.test',
    login: author === undefined ? 'alice' : author,
    bot: 'unknown',
  } as const;
  return {
    sha: givenSha(index),
    message,
    author: person,
    committer: committer === undefined ? person : { ...person, login: committer },
    parents: Array.from({ length: parents ?? 1 }, (_, parent) =>
      givenSha(parent === 0 && index > 0 ? index - 1 : 1_000 + parent),
    ),
    verified: yesNo(verified ?? (signed_by === undefined ? null : true)),
    signer: signed_by,
  };
}

/** The accounts of every address in the messages, whichever trailers the policy names. */
function accountsOf({
  commits: given = [],
  accounts = {},
  accounts_unread,
}: {
  readonly commits?: readonly z.input<typeof commit>[] | undefined;
  readonly accounts?: Readonly<Record<string, string>> | undefined;
  readonly accounts_unread?: boolean | undefined;
}): AuthoredCommits['accounts'] {
  if (accounts_unread === true) {
    return new Map();
  }
  const loginOf = new Map(Object.entries(accounts).map(([address, login]) => [address.toLowerCase(), login]));
  const all = given.map(commitOf);
  const keys = all.flatMap(({ message }) => trailersOf(message).trailers.map(({ key }) => key));
  const named = coAuthorsOf(all, keys).coAuthors.flatMap(({ address }) => address ?? []);
  return new Map(named.map((address) => [address, loginOf.get(address) ?? hiddenAddress(address)?.login ?? null]));
}
