import { ForgeError } from '../port/forge-error.ts';
import type { PullRequestNow, PullRequestRef } from '../port/pull-request.ts';
import type { GitHubClient } from './client.ts';
import { address, toPullRequest } from './read.ts';
import { branchCommit } from './refs.ts';
import { ask } from './request.ts';
import * as shapes from './shapes.ts';

const ROUTE = 'GET /repos/{owner}/{repo}/pulls/{pull_number}';

export async function pullRequest(client: GitHubClient, ref: PullRequestRef): Promise<PullRequestNow | undefined> {
  const octokit = await client.forRepository(ref.repository);
  const answer = await ask(octokit, ROUTE, address(ref), shapes.pull);
  if (answer === undefined) {
    return undefined;
  }
  const baseCommit = await branchCommit(client, ref.repository, answer.base.ref);
  if (baseCommit === undefined && answer.state === 'open') {
    // GitHub closes the pull requests into a branch that is deleted.
    throw new ForgeError('unavailable', `${ROUTE}: its base branch is not found`, { status: 404 });
  }
  const { base, comments, review_comments, changed_files: changedFileCount } = answer;
  return {
    ...toPullRequest(answer),
    // The commit that comes with the pull request can lag behind the branch.
    baseCommit,
    commentCount: comments === undefined || review_comments === undefined ? undefined : comments + review_comments,
    changedFileCount,
    differenceBase: base.sha,
  };
}
