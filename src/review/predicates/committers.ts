import type { Commit, CommitPerson } from '../../forges/port/pull-request.ts';
import type { Facts } from '../facts.ts';

/** Who made what the pull request brings in, as far as the forge can tell from the e-mail addresses of its commits. */
export interface Committers {
  /** In lower case. */
  readonly logins: ReadonlySet<string>;
  /** Commits with an author or committer whose e-mail address belongs to no account. */
  readonly unknown: readonly Commit[];
}

/** A merge that changes nothing itself, such as an update from the base branch, makes nobody a committer. */
export function committersOf({ commits, cleanMerges }: Facts['commits']): Committers {
  const own = commits.filter(({ sha }) => !cleanMerges.has(sha));
  const people = (commit: Commit): CommitPerson[] =>
    commit.committer === null ? [commit.author] : [commit.author, commit.committer];
  return {
    logins: new Set(own.flatMap(people).flatMap(({ login }) => (login === null ? [] : [login.toLowerCase()]))),
    unknown: own.filter((commit) => people(commit).some(({ login }) => login === null)),
  };
}
