import { z } from 'zod';
import type { BranchHistory } from '../port/branch-history.ts';
import { ForgeError } from '../port/forge-error.ts';
import { differenceHead } from './changed-files.ts';
import { type GiteaClient, path, SHORT } from './client.ts';
import { commitsSince, isThere } from './objects.ts';
import { repositoryPath, toPullRequest, utc } from './read.ts';
import * as shapes from './shapes.ts';

const merged = shapes.pull.extend({
  merge_commit_sha: z.string().nullish(),
  closed_at: z.string().nullish(),
  merged_by: z.object({ login: z.string() }).nullish(),
});

export function makeBranchHistory(client: GiteaClient): BranchHistory {
  return {
    namesEvery: false,

    async since(repository, base, head) {
      const listed = await (await commitsSince(client, repository, base, head))?.all();
      // Whatever a version of these forges lists where the first commit is gone.
      if (listed?.length === 0 && !(await isThere(client, repository, base))) {
        return undefined;
      }
      return listed?.map(({ sha, parents, commit, committer }) => ({
        sha,
        parents,
        committer: committer ?? commit.committer?.name ?? '',
        message: commit.message,
        // Its signature does not say for whom.
        byForge: false,
      }));
    },

    async broughtBy({ name: repository }, sha) {
      // Its author may have made the description too large to be read.
      const ask = { maxStringBytes: SHORT };
      const found = await client.ask(`${repositoryPath(repository)}${path('commits', sha)}/pull`, merged, ask);
      if (found?.merged_at == null) {
        return [];
      }
      const pullRequest = toPullRequest(found);
      return [
        {
          number: found.number,
          author: pullRequest.author,
          baseBranch: found.base.ref,
          head: await headThen(client, pullRequest),
          mergeCommit: found.merge_commit_sha || undefined,
          // `merged_at` of a merge by hand is the time that the author of its commit has written into it.
          mergedAt: utc(found.closed_at ?? found.merged_at),
          mergedBy: found.merged_by?.login,
          byQueue: false,
        },
      ];
    },
  };
}

/** `head` names the branch as it is now, which may have been pushed to since. */
async function headThen(client: GiteaClient, of: Parameters<typeof differenceHead>[1]): Promise<string | undefined> {
  try {
    return await differenceHead(client, of);
  } catch (error) {
    if (error instanceof ForgeError && error.status === 404) {
      return undefined;
    }
    throw error;
  }
}
