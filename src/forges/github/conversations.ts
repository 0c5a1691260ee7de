import { z } from 'zod';
import { requireFound } from '../answer.ts';
import type { Conversation, Conversations } from '../port/conversations.ts';
import type { PullRequestRef } from '../port/pull-request.ts';
import { yesNo } from '../port/yes-no.ts';
import { ACTOR, actor } from './actor.ts';
import type { GitHubClient } from './client.ts';
import { repositoryAddress } from './read.ts';
import { askGraphql } from './request.ts';

/**
 * REST has the comments, and not whether their conversation is resolved. However many comments of each are read, the
 * query costs one point.
 */
export const THREADS_QUERY = `query ($owner: String!, $repo: String!, $number: Int!, $cursor: String) {
  repository(owner: $owner, name: $repo) {
    pullRequest(number: $number) {
      reviewThreads(first: 100, after: $cursor) {
        nodes {
          isResolved isOutdated path line resolvedBy { login }
          comments(first: 100) { nodes { author ${ACTOR} } pageInfo { hasNextPage } }
        }
        pageInfo { hasNextPage endCursor }
      }
    }
  }
}`;

const comment = z.object({ author: actor });

const node = z
  .object({
    isResolved: z.boolean(),
    isOutdated: z.boolean(),
    path: z.string(),
    line: z.number().int().nullable(),
    /** Only people are users: null where an App has resolved it. */
    resolvedBy: z.object({ login: z.string() }).nullable(),
    comments: z.object({ nodes: z.tuple([comment], comment), pageInfo: z.object({ hasNextPage: z.boolean() }) }),
  })
  .transform(
    ({
      isResolved,
      isOutdated,
      path,
      line,
      resolvedBy,
      comments: {
        nodes: [first, ...answers],
        pageInfo: { hasNextPage },
      },
    }): Conversation => ({
      author: first.author.login,
      bot: first.author.bot,
      path,
      line,
      outdated: yesNo(isOutdated),
      resolved: yesNo(isResolved),
      resolvedBy: isResolved ? (resolvedBy?.login ?? null) : null,
      answeredBy: hasNextPage ? null : answers.map(({ author }) => author.login),
    }),
  );

const answer = z.object({
  repository: z.object({
    pullRequest: z.object({
      reviewThreads: z.object({
        nodes: z.array(node),
        pageInfo: z.object({ hasNextPage: z.boolean(), endCursor: z.string().nullable() }),
      }),
    }),
  }),
});

/** A thousand conversations. */
const MAX_PAGES = 10;

export async function conversations(client: GitHubClient, ref: PullRequestRef): Promise<Conversations> {
  const what = 'the conversations of a pull request';
  const octokit = requireFound(await client.forRepository(ref.repository), what);
  const conversations: Conversation[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < MAX_PAGES; page++) {
    const variables = { ...repositoryAddress(ref.repository), number: ref.number, cursor };
    const read: z.output<typeof answer> = await askGraphql(octokit, what, THREADS_QUERY, variables, answer);
    const { nodes, pageInfo } = read.repository.pullRequest.reviewThreads;
    conversations.push(...nodes);
    if (!pageInfo.hasNextPage) {
      return { conversations, complete: true };
    }
    cursor = pageInfo.endCursor;
  }
  return { conversations, complete: false };
}
