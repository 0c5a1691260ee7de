import type { PullRequestNow, PullRequestRef } from '../port/pull-request.ts';
import type { GitHubClient } from './client.ts';
import { address, toPullRequest } from './read.ts';
import { branchCommit } from './refs.ts';
import { ask } from './request.ts';
import * as shapes from './shapes.ts';

export async function pullRequest(client: GitHubClient, ref: PullRequestRef): Promise<PullRequestNow | undefined> {
  const octokit = await client.forRepository(ref.repository);
  const answer = await ask(octokit, 'GET /repos/{owner}/{repo}/pulls/{pull_number}', address(ref), shapes.pull);
  if (answer === undefined) {
    return undefined;
  }
  const { base, comments, review_comments, changed_files: changedFileCount } = answer;
  return {
    ...toPullRequest(answer),
    // The commit that comes with the pull request can lag behind the branch.
    baseCommit: await branchCommit(client, ref.repository, base.ref),
    commentCount: comments === undefined || review_comments === undefined ? undefined : comments + review_comments,
    changedFileCount,
    differenceBase: base.sha,
  };
}
