import { z } from 'zod';
import { id, limitList } from '../answer.ts';
import { type ClosedPullRequest, isEnough, mergedList } from '../merged-list.ts';
import { ForgeError } from '../port/forge-error.ts';
import type { MergedPullRequests } from '../port/merged.ts';
import type { PullRequestRef } from '../port/pull-request.ts';
import { differenceHead } from './changed-files.ts';
import { type GiteaClient, path, SHORT } from './client.ts';
import { pullPath, repositoryPath, toPullRequest, utc } from './read.ts';
import * as shapes from './shapes.ts';

/** Pages of 50; of less, where an operator has set so. */
const MAX_PAGES = 40;

const closedPulls = z.array(
  shapes.pull.transform((pull): ClosedPullRequest => {
    const pullRequest = toPullRequest(pull);
    const { merged_at: mergedAt } = pull;
    const { updatedAt } = pullRequest;
    return mergedAt == null ? { updatedAt } : { updatedAt, merged: { pullRequest, mergedAt: utc(mergedAt) } };
  }),
);

const merge = z.object({
  number: z.number().int(),
  base: z.object({ ref: z.string(), repo: z.object({ id }) }),
  merge_commit_sha: z.string().nullish(),
  merged_at: z.string().nullish(),
  closed_at: z.string().nullish(),
  merged_by: z.object({ login: z.string() }).nullish(),
});

/** Its author may have made the description too large to be read. */
const WITHOUT_BODY = { maxStringBytes: SHORT };

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

    async of(ref) {
      const found = await client.ask(pullPath(ref), merge, WITHOUT_BODY);
      return found?.merged_at == null
        ? undefined
        : {
            repositoryId: found.base.repo.id,
            baseBranch: found.base.ref,
            head: await headThen(client, ref),
            mergeCommit: found.merge_commit_sha || undefined,
            // `merged_at` of a merge by hand is the time that the author of its commit has written into it.
            mergedAt: utc(found.closed_at ?? found.merged_at),
            mergedBy: found.merged_by?.login,
          };
    },

    async broughtBy({ name }, branch, sha) {
      const route = `${repositoryPath(name)}${path('commits', sha)}/pull`;
      const found = await client.ask(route, merge, WITHOUT_BODY);
      return found?.merged_at != null && found.base.ref === branch ? found.number : undefined;
    },
  };
}

/** `head` names the branch as it is now, which may have been pushed to since. */
async function headThen(client: GiteaClient, ref: PullRequestRef): Promise<string | undefined> {
  try {
    return await differenceHead(client, ref);
  } catch (error) {
    if (error instanceof ForgeError && error.status === 404) {
      return undefined;
    }
    throw error;
  }
}
