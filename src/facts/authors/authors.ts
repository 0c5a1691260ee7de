import { shorten } from '../../common/shorten.ts';
import type { Commit, CommitPerson } from '../../forges/port/pull-request.ts';
import { type CoAuthor, coAuthorsOf } from './co-authors.ts';
import { type Named, namesPeople } from './names.ts';
import type { PeopleSettings } from './people-settings.ts';

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
  /**
   * Logins in lower case of those who made commits of the pull request that it may not have any more; null: more than
   * are kept. Absent: nothing is remembered.
   */
  readonly seen?: readonly string[] | null;
  /**
   * Logins in lower case of those who pushed a commit, by its id, as far as webhooks tell. Absent: none are looked at.
   */
  readonly pushers?: ReadonlyMap<string, ReadonlySet<string>>;
  /** The same of commits that it does not have any more. */
  readonly gonePushers?: readonly string[];
}

/** Somebody who made a commit: its author, its committer, a co-author whom its message names, or who pushed it. */
export interface Author extends Named {
  readonly sha: string;
  /** Whether it is a program: by its account, or where none is known by its e-mail address. */
  readonly machine: boolean;
}

/** One of these, of a commit that a force-push has taken away. */
export interface SeenAuthor extends Pick<Author, 'login'> {
  readonly as: 'seen' | 'pusher';
}

/** Who made what a pull request brings in, as far as the forge and the commits tell. */
export interface Authors {
  readonly people: readonly Author[];
  /** By login in lower case. Those of commits that are gone are here and not in `people`. */
  readonly byLogin: ReadonlyMap<string, Author | SeenAuthor>;
  /** Those without a known account who may be people. */
  readonly unknown: readonly Author[];
  /** Ids of commits whose push was not seen, the newest of each part of the history. Who pushed counts as the author. */
  readonly unseen: readonly string[];
  /** False when there may be more of them. */
  readonly complete: boolean;
}

const MAX_SHOWN = 100;

/**
 * Who made the commits of a pull request. Nobody else decides this: approvals, overrides and `contributors` all ask
 * here. `cleanMerges` are merge commits that change nothing themselves, such as an update from the base branch: they
 * make nobody an author. Only approvals leave them out.
 */
export function authorsOf(
  { commits, complete, accounts, seen = [], pushers, gonePushers = [] }: AuthoredCommits,
  { authorTrailers, machineAccounts }: PeopleSettings,
  cleanMerges: ReadonlySet<string> = new Set(),
): Authors {
  const isMachine = namesPeople(machineAccounts);
  const made = ({ bot, ...found }: Found): Author => ({
    ...found,
    named: shorten(found.named, MAX_SHOWN),
    machine: bot === 'yes' || isApp(found.login) || isMachine(found),
  });
  const own = commits.filter(({ sha }) => !cleanMerges.has(sha));
  const named = coAuthorsOf(own, authorTrailers);
  const accountOfAddress = new Map([...accountsAmong(commits), ...accounts]);
  const found = named.coAuthors.map((coAuthor) => ({ coAuthor, account: accountOf(coAuthor, accountOfAddress) }));
  const coAuthors = found.flatMap(({ coAuthor, account }) => foundBy(coAuthor, account));
  const people = [...own.flatMap(peopleOf), ...coAuthors].map(made);
  const pushed = own.flatMap((commit) => pushersBeside(commit, pushers)).map(made);
  const gone = (as: SeenAuthor['as']) => (login: string) => ({ as, login });
  const unseen = pushers === undefined ? [] : own.filter(({ sha }) => !pushers.has(sha));
  // Whoever has written a commit has done more than to push one.
  const byStrength = [...people, ...(seen ?? []).map(gone('seen')), ...pushed, ...gonePushers.map(gone('pusher'))];
  return {
    people: [...people, ...pushed],
    byLogin: new Map<string, Author | SeenAuthor>(
      byStrength.toReversed().flatMap((one) => (one.login === null ? [] : [[one.login.toLowerCase(), one]])),
    ),
    unseen: tipsOf(unseen),
    unknown: people.filter(({ login, machine }) => login === null && !machine),
    complete: complete && seen !== null && named.complete && found.every(({ account }) => account !== undefined),
  };
}

/** Who is not known to be a program is a person, unless the operator or the policy names the account. */
type Found = Omit<Author, 'machine'> & Partial<Pick<CommitPerson, 'bot'>>;

function peopleOf({ sha, author, committer }: Commit): readonly Found[] {
  const found = (as: Author['as'], { login, email, bot }: CommitPerson): Found => ({
    sha,
    as,
    login,
    named: email,
    bot,
  });
  return committer === null ? [found('author', author)] : [found('author', author), found('committer', committer)];
}

/** Without its author and committer, who count anyway. */
function pushersBeside({ sha, author, committer }: Commit, pushers: AuthoredCommits['pushers']): readonly Found[] {
  const made = [author.login?.toLowerCase(), committer?.login?.toLowerCase()];
  return [...(pushers?.get(sha) ?? [])].flatMap((login) =>
    made.includes(login) ? [] : [{ sha, as: 'pusher' as const, login, named: login }],
  );
}

function tipsOf(commits: readonly Commit[]): readonly string[] {
  const below = new Set(commits.flatMap(({ parents }) => parents));
  return commits.flatMap(({ sha }) => (below.has(sha) ? [] : [sha]));
}

/** Null where there is none; undefined where the forge was not asked. */
function accountOf(
  { address, login }: CoAuthor,
  accountOfAddress: AuthoredCommits['accounts'],
): string | null | undefined {
  return address === undefined ? (login ?? null) : accountOfAddress.get(address);
}

/** The account of a co-author, and the login that the trailer itself has: each of the two may be the right one. */
function foundBy({ sha, text, login }: CoAuthor, account: string | null | undefined): readonly Found[] {
  const logins = [account, login].flatMap((each) => (each === undefined ? [] : [each?.toLowerCase() ?? null]));
  return [...new Set(logins)].map((each) => ({ sha, as: 'co-author', login: each, named: text }));
}

/** Only Apps of GitHub can have such a login. */
function isApp(login: string | null): boolean {
  return login?.endsWith('[bot]') ?? false;
}

/** By e-mail address in lower case, of those who have an account. */
export function accountsAmong(commits: readonly Commit[]): ReadonlyMap<string, string> {
  const people = commits.flatMap(({ author, committer }) => (committer === null ? [author] : [author, committer]));
  return new Map(people.flatMap(({ email, login }) => (login === null ? [] : [[email.toLowerCase(), login]])));
}
