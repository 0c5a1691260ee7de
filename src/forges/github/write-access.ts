import { requireFound } from '../answer.ts';
import type { WriteAccess } from '../port/pull-request.ts';
import { makeWriteAccess } from '../write-access.ts';
import type { GitHubClient } from './client.ts';
import { repositoryAddress } from './read.ts';
import { ask } from './request.ts';
import * as shapes from './shapes.ts';

const WRITING = ['write', 'admin'];

/**
 * The `author_association` of a review or comment does not say: a member of the organisation may only read, and a
 * private member looks like a stranger.
 * https://docs.github.com/en/rest/collaborators/collaborators#get-repository-permissions-for-a-user
 */
export function writeAccess(client: GitHubClient, repository: string): WriteAccess {
  const route = 'GET /repos/{owner}/{repo}/collaborators/{username}/permission';
  return makeWriteAccess(async (username) => {
    const octokit = requireFound(await client.forRepository(repository), route);
    const answer = await ask(octokit, route, { ...repositoryAddress(repository), username }, shapes.permission);
    // 404: no such account, any more.
    return answer !== undefined && WRITING.includes(answer.permission) ? 'yes' : 'no';
  });
}
