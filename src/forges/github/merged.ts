import { z } from 'zod';
import { id } from '../answer.ts';
import { isEnough, mergedList } from '../merged-list.ts';
import type { MergedPullRequests } from '../port/merged.ts';
import type { GitHubClient } from './client.ts';
import { address, noSuchCommit, repositoryAddress, toPullRequest } from './read.ts';
import { ask, askAll } from './request.ts';
import * as shapes from './shapes.ts';

const closedPulls = z.array(
  shapes.pull.transform((pull) => {
    const pullRequest = toPullRequest(pull);
    const { merged_at: mergedAt } = pull;
    const { updatedAt } = pullRequest;
    return mergedAt == null ? { updatedAt } : { updatedAt, merged: { pullRequest, mergedAt } };
  }),
);

const merge = z.object({
  base: z.object({ ref: z.string(), repo: z.object({ id }) }),
  head: z.object({ sha: z.string() }),
  merge_commit_sha: z.string().nullish(),
  merged_at: z.string().nullish(),
  merged_by: z.object({ login: z.string() }).nullish(),
});

const pullsOfCommit = z.array(
  z.object({
    number: z.number().int(),
    base: z.object({ ref: z.string(), repo: z.object({ id }) }),
    merged_at: z.string().nullish(),
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

    /** https://docs.github.com/en/rest/pulls/pulls#get-a-pull-request */
    async of(ref) {
      const octokit = await client.forRepository(ref.repository);
      const found = await ask(octokit, 'GET /repos/{owner}/{repo}/pulls/{pull_number}', address(ref), merge);
      return found?.merged_at == null
        ? undefined
        : {
            repositoryId: found.base.repo.id,
            baseBranch: found.base.ref,
            head: found.head.sha,
            mergeCommit: found.merge_commit_sha ?? undefined,
            mergedAt: found.merged_at,
            mergedBy: found.merged_by?.login,
          };
    },

    /** https://docs.github.com/en/rest/commits/commits#list-pull-requests-associated-with-a-commit */
    async broughtBy({ id: repositoryId, name }, branch, sha) {
      const octokit = await client.forRepository(name);
      const parameters = { ...repositoryAddress(name), commit_sha: sha };
      const route = 'GET /repos/{owner}/{repo}/commits/{commit_sha}/pulls';
      const found = await askAll(octokit, route, parameters, pullsOfCommit).catch(noSuchCommit);
      const merged = found?.find(
        ({ base, merged_at }) => merged_at != null && base.ref === branch && base.repo.id === repositoryId,
      );
      return merged?.number;
    },
  };
}
