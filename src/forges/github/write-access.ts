import { requireFound } from '../answer.ts';
import { askEachOnce } from '../ask-each-once.ts';
import { GHOST } from '../port/accounts.ts';
import type { WriteAccess } from '../port/pull-request.ts';
import type { YesNo } from '../port/yes-no.ts';
import type { GitHubClient } from './client.ts';
import { repositoryAddress } from './read.ts';
import { ask } from './request.ts';
import * as shapes from './shapes.ts';

/** GitHub calls `maintain` write, and `triage` read. */
const ANSWERS: ReadonlyMap<string, YesNo> = new Map([
  ['admin', 'yes'],
  ['write', 'yes'],
  ['read', 'no'],
  ['none', 'no'],
]);

/**
 * The `author_association` of a review or comment does not say: a member of the organisation may only read, and a
 * private member looks like a stranger.
 * https://docs.github.com/en/rest/collaborators/collaborators#get-repository-permissions-for-a-user
 */
export function writeAccess(client: GitHubClient, repository: string): WriteAccess {
  const route = 'GET /repos/{owner}/{repo}/collaborators/{username}/permission';
  return askEachOnce(async (username) => {
    if (username === GHOST) {
      return 'no';
    }
    const octokit = await client.forRepository(repository);
    const answer = await ask(octokit, route, { ...repositoryAddress(repository), username }, shapes.permission);
    // A 404 may be of an account that was renamed a moment ago, or is hidden.
    const { permission } = requireFound(answer, route);
    return ANSWERS.get(permission) ?? 'unknown';
  });
}
