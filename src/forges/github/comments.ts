import { z } from 'zod';
import { requireFound } from '../answer.ts';
import { commandIn } from '../port/command.ts';
import { ForgeError } from '../port/forge-error.ts';
import type { PersonComment, PullRequestRef } from '../port/pull-request.ts';
import type { GitHubClient } from './client.ts';
import { repositoryAddress } from './read.ts';
import { askGraphql } from './request.ts';

/** REST does not say whether a comment was edited: its `updated_at` moves for other reasons too. */
export const COMMENTS_QUERY = `query ($owner: String!, $repo: String!, $number: Int!, $cursor: String) {
  repository(owner: $owner, name: $repo) {
    pullRequest(number: $number) {
      comments(first: 50, after: $cursor) {
        nodes { url author { __typename login } body createdAt lastEditedAt createdViaEmail }
        pageInfo { hasNextPage endCursor }
      }
    }
  }
}`;

const node = z
  .object({
    /**
     * It ends in the number that REST and webhooks have. `databaseId` is too small for it, and older servers have no
     * other.
     */
    url: z.string().transform((url) => /#issuecomment-(\d+)$/.exec(url)?.[1] ?? url),
    author: z.object({ __typename: z.string(), login: z.string() }).nullable(),
    body: z.string(),
    createdAt: z.string(),
    lastEditedAt: z.string().nullable(),
    createdViaEmail: z.boolean(),
  })
  .transform(
    ({ url, author, body, createdAt, lastEditedAt, createdViaEmail }): PersonComment => ({
      id: url,
      author: author?.login ?? null,
      // The others are Bot, Mannequin (of an import), Organization and EnterpriseUserAccount.
      bot: author !== null && author.__typename !== 'User',
      byEmail: createdViaEmail,
      // The longest is 64 KiB, and there may be thousands.
      body: commandIn(body) === undefined ? '' : body,
      createdAt,
      edited: lastEditedAt === null ? 'no' : 'yes',
    }),
  );

const answer = z.object({
  repository: z.object({
    pullRequest: z.object({
      comments: z.object({
        nodes: z.array(node),
        pageInfo: z.object({ hasNextPage: z.boolean(), endCursor: z.string().nullable() }),
      }),
    }),
  }),
});

/** Three thousand comments. */
const MAX_PAGES = 60;

export async function comments(client: GitHubClient, ref: PullRequestRef): Promise<readonly PersonComment[]> {
  const what = 'the comments of a pull request';
  const octokit = requireFound(await client.forRepository(ref.repository), what);
  const found: PersonComment[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < MAX_PAGES; page++) {
    const variables = { ...repositoryAddress(ref.repository), number: ref.number, cursor };
    const read: z.output<typeof answer> = await askGraphql(octokit, what, COMMENTS_QUERY, variables, answer);
    const { nodes, pageInfo } = read.repository.pullRequest.comments;
    found.push(...nodes);
    if (!pageInfo.hasNextPage) {
      return found;
    }
    cursor = pageInfo.endCursor;
  }
  throw new ForgeError('too-large', `${what}: ${ref.repository}#${ref.number} has more than ${MAX_PAGES} pages`);
}
