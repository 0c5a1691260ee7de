import type { PullRequest } from '../../forges/port/pull-request.ts';
import { type AuthoredCommits, authorsOf } from './authors.ts';
import { NO_PEOPLE_SETTINGS } from './people-settings.ts';

/**
 * Remembers logins, in lower case, of those who made a commit, and returns those of all heads so far: of the same pull
 * request and base branch. Null: they are more than are kept.
 */
export type RememberAuthors = (
  pullRequest: PullRequest,
  logins: readonly string[],
) => Promise<readonly string[] | null>;

/**
 * Adds those who made commits that a force-push has taken away since. Merges are left out of what is remembered: most
 * are updates from the base branch, and whoever pressed the button for one made nothing.
 */
export async function withSeenAuthors<Commits extends AuthoredCommits>(
  commits: Commits,
  pullRequest: PullRequest,
  authorTrailers: readonly string[],
  remember: RememberAuthors | undefined,
): Promise<Commits> {
  if (remember === undefined) {
    return commits;
  }
  const own = { ...commits, commits: commits.commits.filter(({ parents }) => parents.length < 2) };
  const { byLogin } = authorsOf(own, { ...NO_PEOPLE_SETTINGS, authorTrailers });
  return { ...commits, seen: await remember(pullRequest, [...byLogin.keys()]) };
}
