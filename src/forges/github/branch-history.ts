import { z } from 'zod';
import type { BranchCommit, BranchHistory, BroughtBy } from '../port/branch-history.ts';
import { UNCHANGING } from '../transport/forge-fetch.ts';
import type { GitHubClient } from './client.ts';
import { address, noSuchCommit, repositoryAddress } from './read.ts';
import { ask, askAll } from './request.ts';
import * as shapes from './shapes.ts';

/** Ten pages. The commits behind a merge are listed with it. */
const MAX_COMMITS = 1_000;

/** The account under which GitHub commits what people do on its pages. Its signature is GitHub's own. */
const WEB_FLOW = 'web-flow';
/** The account that merges what is in a merge queue. */
const QUEUE = 'github-merge-queue[bot]';

const page = z
  .object({ total_commits: z.number().int(), commits: shapes.commits })
  .transform(({ total_commits: total, commits }) => [{ total, commits }]);

const merged = z.object({
  number: z.number().int(),
  user: shapes.pull.shape.user,
  base: z.object({ ref: z.string(), repo: z.object({ id: z.number().int() }) }),
  head: z.object({ sha: z.string() }),
  merge_commit_sha: z.string().nullish(),
  merged_at: z.string().nullish(),
});
const mergedBy = z.object({ merged_by: z.object({ login: z.string() }).nullish() });

export function makeBranchHistory(client: GitHubClient): BranchHistory {
  return {
    namesEvery: true,

    /** https://docs.github.com/en/rest/commits/commits#compare-two-commits */
    async since(repository, base, head) {
      const octokit = await client.forRepository(repository);
      const headers = { 'cache-control': UNCHANGING };
      const parameters = { ...repositoryAddress(repository), basehead: `${base}...${head}`, page: 1, headers };
      const route = 'GET /repos/{owner}/{repo}/compare/{basehead}';
      const pages = await askAll(octokit, route, parameters, page, ([first]) => (first?.total ?? 0) > MAX_COMMITS);
      const listed = pages?.flatMap(({ commits }) => commits) ?? [];
      return listed.length < (pages?.[0]?.total ?? Number.POSITIVE_INFINITY) ? undefined : listed.map(toBranchCommit);
    },

    /** https://docs.github.com/en/rest/commits/commits#list-pull-requests-associated-with-a-commit */
    async broughtBy({ id, name: repository }, sha) {
      const octokit = await client.forRepository(repository);
      const parameters = { ...repositoryAddress(repository), commit_sha: sha };
      const route = 'GET /repos/{owner}/{repo}/commits/{commit_sha}/pulls';
      const found = await askAll(octokit, route, parameters, z.array(merged)).catch(noSuchCommit);
      const own = (found ?? []).filter(({ base }) => String(base.repo.id) === id);
      const brought: BroughtBy[] = [];
      for (const { number, user, base, head, merge_commit_sha, merged_at } of own) {
        if (merged_at != null) {
          const whole = await ask(
            octokit,
            'GET /repos/{owner}/{repo}/pulls/{pull_number}',
            address({ repository, number }),
            mergedBy,
          );
          brought.push({
            number,
            author: user,
            baseBranch: base.ref,
            head: head.sha,
            mergeCommit: merge_commit_sha ?? undefined,
            mergedAt: merged_at,
            mergedBy: whole?.merged_by?.login,
            byQueue: whole?.merged_by?.login === QUEUE,
          });
        }
      }
      return brought;
    },
  };
}

function toBranchCommit({ sha, parents, commit, committer }: z.output<typeof shapes.commits>[number]): BranchCommit {
  return {
    sha,
    parents: parents.map((parent) => parent.sha),
    committer: committer.login ?? commit.committer?.name ?? '',
    message: commit.message,
    byForge: committer.login === WEB_FLOW && commit.verification?.verified === true,
  };
}
