import { shorten } from '../../common/shorten.ts';
import type { Commit } from '../../forges/port/pull-request.ts';
import { coAuthorsOf } from './co-authors.ts';

/** What the authors of a pull request are found in. */
export interface AuthoredCommits {
  readonly commits: readonly Commit[];
  /** False when there are more of them. */
  readonly complete: boolean;
  /**
   * Logins by e-mail address in lower case; null where no account is known. What is not here was not asked of the
   * forge.
   */
  readonly accounts: ReadonlyMap<string, string | null>;
}

/** Somebody who made a commit: its author, its committer, or a co-author whom its message names. */
export interface Author {
  readonly sha: string;
  readonly as: 'author' | 'committer' | 'co-author';
  /** Null where no account is known. */
  readonly login: string | null;
  /** The e-mail address; of a trailer without one, its text. At most MAX_SHOWN characters. */
  readonly named: string;
}

/** Who made what a pull request brings in, as far as the forge and the commits tell. */
export interface Authors {
  readonly people: readonly Author[];
  /** By login in lower case; of several, the first. */
  readonly byLogin: ReadonlyMap<string, Author>;
  readonly unknown: readonly Author[];
  /** False when there may be more of them. */
  readonly complete: boolean;
}

const MAX_SHOWN = 100;

/**
 * Who made the commits of a pull request. Nobody else decides this: approvals, overrides and `contributors` all ask
 * here. `trailers` are the keys that name a co-author beside `Co-authored-by`; `cleanMerges` are merge commits that
 * change nothing themselves, such as an update from the base branch: they make nobody an author.
 */
export function authorsOf(
  { commits, complete, accounts }: AuthoredCommits,
  trailers: readonly string[],
  cleanMerges: ReadonlySet<string> = new Set(),
): Authors {
  const own = commits.filter(({ sha }) => !cleanMerges.has(sha));
  const people = own.flatMap(peopleOf);
  const named = coAuthorsOf(own, trailers);
  const known = new Map([...accountsAmong(own), ...accounts]);
  let asked = true;
  for (const { sha, text, address, login } of named.coAuthors) {
    const account = address === undefined ? (login ?? null) : known.get(address);
    asked &&= account !== undefined;
    const logins = new Set(
      [account, login].flatMap((each) => (each === undefined ? [] : [each?.toLowerCase() ?? null])),
    );
    people.push(...[...logins].map((each) => ({ sha, as: 'co-author' as const, login: each, named: shown(text) })));
  }
  return {
    people,
    byLogin: new Map(
      people.toReversed().flatMap((one) => (one.login === null ? [] : [[one.login.toLowerCase(), one]])),
    ),
    unknown: people.filter(({ login }) => login === null),
    complete: complete && named.complete && asked,
  };
}

function peopleOf({ sha, author, committer }: Commit): Author[] {
  const one = { sha, as: 'author', login: author.login, named: shown(author.email) } as const;
  return committer === null
    ? [one]
    : [one, { sha, as: 'committer', login: committer.login, named: shown(committer.email) }];
}

/** By e-mail address in lower case, of those who have an account. */
export function accountsAmong(commits: readonly Commit[]): ReadonlyMap<string, string> {
  const people = commits.flatMap(({ author, committer }) => (committer === null ? [author] : [author, committer]));
  return new Map(people.flatMap(({ email, login }) => (login === null ? [] : [[email.toLowerCase(), login]])));
}

function shown(text: string): string {
  return shorten(text, MAX_SHOWN);
}
