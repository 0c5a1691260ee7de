import { z } from 'zod';
import { requireFound } from '../answer.ts';
import { ForgeError } from '../port/forge-error.ts';
import type { MergeQueueEntry } from '../port/merge-queue.ts';
import type { GitHubClient } from './client.ts';
import { repositoryAddress } from './read.ts';
import { askGraphql } from './request.ts';

/** Only GraphQL has it. Older entries are merged first. */
export const QUEUE_QUERY = `query ($owner: String!, $repo: String!, $branch: String!, $cursor: String) {
  repository(owner: $owner, name: $repo) {
    mergeQueue(branch: $branch) {
      entries(first: 100, after: $cursor) {
        nodes { position headCommit { oid } pullRequest { number } }
        pageInfo { hasNextPage endCursor }
      }
    }
  }
}`;

const entry = z
  .object({
    position: z.number().int(),
    headCommit: z.object({ oid: z.string() }).nullable(),
    pullRequest: z.object({ number: z.number().int() }).nullable(),
  })
  .transform(
    ({ position, headCommit, pullRequest }): MergeQueueEntry => ({
      position,
      headSha: headCommit?.oid ?? null,
      number: pullRequest?.number ?? null,
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

/** A thousand entries. */
const MAX_PAGES = 10;

export async function mergeQueueEntries(
  client: GitHubClient,
  repository: string,
  branch: string,
): Promise<readonly MergeQueueEntry[]> {
  const what = 'the merge queue';
  const octokit = requireFound(await client.forRepository(repository), what);
  const entries: MergeQueueEntry[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < MAX_PAGES; page++) {
    const variables = { ...repositoryAddress(repository), branch, cursor };
    const read: z.output<typeof answer> = await askGraphql(octokit, what, QUEUE_QUERY, variables, answer);
    const list = read.repository.mergeQueue?.entries;
    entries.push(...(list?.nodes ?? []));
    if (list?.pageInfo.hasNextPage !== true) {
      return entries;
    }
    cursor = list.pageInfo.endCursor;
  }
  throw new ForgeError('invalid', `${what} of ${repository} has more than ${MAX_PAGES} pages`);
}
