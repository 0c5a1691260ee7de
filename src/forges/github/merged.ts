import { z } from 'zod';
import { isEnough, mergedList } from '../merged-list.ts';
import type { MergedPullRequests } from '../port/merged.ts';
import type { GitHubClient } from './client.ts';
import { repositoryAddress, toPullRequest } from './read.ts';
import { askAll } from './request.ts';
import * as shapes from './shapes.ts';

const closedPulls = z.array(
  shapes.pull
    .extend({ merge_commit_sha: z.string().nullish() })
    .transform(({ merge_commit_sha: mergeCommit, ...pull }) => {
      const pullRequest = toPullRequest(pull);
      const { merged_at: mergedAt } = pull;
      const { updatedAt } = pullRequest;
      return mergedAt == null
        ? { updatedAt }
        : { updatedAt, merged: { pullRequest, mergedAt, mergeCommit: mergeCommit ?? undefined } };
    }),
);

/** https://docs.github.com/en/rest/pulls/pulls#list-pull-requests */
export function makeMergedPullRequests(client: GitHubClient): MergedPullRequests {
  return {
    async list(repository, count) {
      const octokit = await client.forRepository(repository);
      const parameters = { ...repositoryAddress(repository), state: 'closed', sort: 'updated', direction: 'desc' };
      const closed = await askAll(octokit, 'GET /repos/{owner}/{repo}/pulls', parameters, closedPulls, (items) =>
        isEnough(items, count),
      );
      return closed && mergedList(closed, count, !isEnough(closed, count));
    },

    // GitHub keeps it as it was when it was merged.
    headOf: async ({ pullRequest }) => pullRequest.head.sha,
  };
}
