import type { PullRequest } from '../../forges/port/pull-request.ts';
import { type AuthoredCommits, authorsOf } from './authors.ts';
import { NO_PEOPLE_SETTINGS } from './people-settings.ts';
import { broughtBy, type Push, pushersOf } from './pushes.ts';

/** A push of a commit of the pull request, or to the pull request itself. */
export interface PullRequestPush extends Push {
  /** Whether it was found to bring merges alone. */
  readonly isUpdate: boolean;
}

/** What is remembered of a pull request beside what its commits say. */
export interface Makers {
  /** The pushes of these commits, and those of commits that it does not have any more. */
  pushes(pullRequest: PullRequest, shas: readonly string[]): Promise<readonly PullRequestPush[]>;
  /**
   * Remembers logins, in lower case, of those who made a commit, and the pushes that brought merges alone.
   * Returns the logins of all heads so far, of the same base branch. Null: they are more than are kept.
   */
  remember(
    pullRequest: PullRequest,
    logins: readonly string[],
    updates: readonly Push[],
  ): Promise<readonly string[] | null>;
}

/**
 * Adds those who pushed, and those who made commits that a force-push has taken away since. Merges are left out of what
 * is remembered: most are updates from the base branch, and whoever pressed the button for one made nothing.
 */
export async function withMakers<Commits extends AuthoredCommits>(
  listed: Commits,
  pullRequest: PullRequest,
  authorTrailers: readonly string[],
  makers: Makers | undefined,
): Promise<Commits> {
  if (makers === undefined) {
    return listed;
  }
  const { commits } = listed;
  const merges = new Set(commits.flatMap(({ sha, parents }) => (parents.length < 2 ? [] : [sha])));
  const own = { ...listed, commits: commits.filter(({ sha }) => !merges.has(sha)) };
  const { byLogin } = authorsOf(own, { ...NO_PEOPLE_SETTINGS, authorTrailers });

  const shas = commits.map(({ sha }) => sha);
  const pushes = await makers.pushes(pullRequest, shas);
  const brought = broughtBy(commits, pushes);
  const areMerges = (some: Iterable<string>) => [...some].every((sha) => merges.has(sha));
  const updates = [...brought].flatMap(([push, shas]) => (!push.isUpdate && areMerges(shas) ? [push] : []));
  const seen = await makers.remember(pullRequest, [...byLogin.keys()], updates);
  const gone = pushes.filter((push) => push.by !== '' && !push.isUpdate && !brought.has(push));
  return { ...listed, seen, pushers: pushersOf(brought), gonePushers: gone.map(({ by }) => by) };
}
