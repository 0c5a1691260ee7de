import { z } from 'zod';
import { limitList } from '../answer.ts';
import { type ClosedPullRequest, isEnough, mergedList } from '../merged-list.ts';
import { ForgeError } from '../port/forge-error.ts';
import type { MergedPullRequests } from '../port/merged.ts';
import { differenceHead } from './changed-files.ts';
import type { GiteaClient } from './client.ts';
import { repositoryPath, toPullRequest, utc } from './read.ts';
import * as shapes from './shapes.ts';

/** Pages of 50; of less, where an operator has set so. */
const MAX_PAGES = 40;

const closedPulls = z.array(
  shapes.pull
    .extend({ merge_commit_sha: z.string().nullish() })
    .transform(({ merge_commit_sha: mergeCommit, ...pull }): ClosedPullRequest => {
      const pullRequest = toPullRequest(pull);
      const { merged_at: mergedAt } = pull;
      const { updatedAt } = pullRequest;
      return mergedAt == null
        ? { updatedAt }
        : { updatedAt, merged: { pullRequest, mergedAt: utc(mergedAt), mergeCommit: mergeCommit || undefined } };
    }),
);

export function makeMergedPullRequests(client: GiteaClient): MergedPullRequests {
  return {
    async list(repository, count) {
      const route = `${repositoryPath(repository)}/pulls`;
      const countPage = limitList(`GET ${route}`, MAX_PAGES);
      const query = { state: 'closed', sort: 'recentupdate' };
      const closed: ClosedPullRequest[] = [];
      for (let number = 1; ; number += 1) {
        const page = await client.askPage(route, closedPulls, { number, query, before: closed.length });
        if (page === undefined) {
          return undefined;
        }
        countPage(page.items);
        closed.push(...page.items);
        if (page.isLast || number === MAX_PAGES || isEnough(closed, count)) {
          return mergedList(closed, count, page.isLast);
        }
      }
    },

    // `head` names the branch as it is now, which may have been pushed to since.
    async headOf({ pullRequest }) {
      try {
        return await differenceHead(client, pullRequest);
      } catch (error) {
        if (error instanceof ForgeError && error.status === 404) {
          return undefined;
        }
        throw error;
      }
    },
  };
}
