import type { Octokit } from 'octokit';
import { z } from 'zod';
import { ForgeError } from '../port/forge-error.ts';
import type { MergeQueueEntry } from '../port/merge-queue.ts';
import type { GitHubClient } from './client.ts';
import { repositoryAddress } from './read.ts';
import { askGraphqlIfFound } from './request.ts';

/** Only GraphQL has it. Older entries are merged first. */
export const QUEUE_QUERY = `query ($owner: String!, $repo: String!, $branch: String!, $cursor: String) {
  repository(owner: $owner, name: $repo) {
    mergeQueue(branch: $branch) {
      entries(first: 100, after: $cursor) {
        nodes { position headCommit { oid } pullRequest { number headRefOid baseRefName } }
        pageInfo { hasNextPage endCursor }
      }
    }
  }
}`;

const entry = z
  .object({
    position: z.number().int(),
    headCommit: z.object({ oid: z.string() }).nullable(),
    pullRequest: z
      .object({ number: z.number().int(), headRefOid: z.string(), baseRefName: z.string() })
      .transform(({ number, headRefOid: headSha, baseRefName: baseBranch }) => ({ number, headSha, baseBranch }))
      .nullable(),
  })
  .transform(
    ({ position, headCommit, pullRequest }): MergeQueueEntry => ({
      position,
      headSha: headCommit?.oid ?? null,
      pullRequest,
    }),
  );

const answer = z.object({
  repository: z.object({
    // Null for a branch without a queue.
    mergeQueue: z
      .object({
        entries: z.object({
          nodes: z.array(entry),
          pageInfo: z.object({ hasNextPage: z.boolean(), endCursor: z.string().nullable() }),
        }),
      })
      .nullable(),
  }),
});

type Answer = z.output<typeof answer>;

const WHAT = 'the merge queue';
/** A thousand entries. */
const MAX_PAGES = 10;

/** Undefined where the repository does not exist or cannot be seen. */
export async function mergeQueueEntries(
  client: GitHubClient,
  repository: string,
  branch: string,
): Promise<readonly MergeQueueEntry[] | undefined> {
  const octokit = await client.forRepository(repository);
  if (octokit === undefined) {
    return undefined;
  }
  const entries: MergeQueueEntry[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < MAX_PAGES; page++) {
    const read = await readPage(octokit, { ...repositoryAddress(repository), branch, cursor });
    if (read === undefined) {
      return undefined;
    }
    const list = read.repository.mergeQueue?.entries;
    entries.push(...(list?.nodes ?? []));
    if (list?.pageInfo.hasNextPage !== true) {
      return entries;
    }
    cursor = list.pageInfo.endCursor;
  }
  throw new ForgeError('invalid', `${WHAT} of ${repository} has more than ${MAX_PAGES} pages`);
}

function readPage(octokit: Octokit, variables: Readonly<Record<string, unknown>>): Promise<Answer | undefined> {
  return askGraphqlIfFound(octokit, WHAT, QUEUE_QUERY, variables, answer);
}
