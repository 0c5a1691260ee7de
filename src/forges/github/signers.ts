import { z } from 'zod';
import { requireFound } from '../answer.ts';
import type { PullRequestRef } from '../port/pull-request.ts';
import type { GitHubClient } from './client.ts';
import { repositoryAddress } from './read.ts';
import { askGraphql } from './request.ts';

/** REST says that a signature is verified, and not whose it is. https://docs.github.com/en/graphql/reference/git */
export const SIGNERS_QUERY = `query ($owner: String!, $repo: String!, $number: Int!, $cursor: String) {
  repository(owner: $owner, name: $repo) {
    pullRequest(number: $number) {
      commits(first: 100, after: $cursor) {
        nodes { commit { oid signature { isValid wasSignedByGitHub signer { login } } } }
        pageInfo { hasNextPage endCursor }
      }
    }
  }
}`;

const node = z.object({
  commit: z.object({
    oid: z.string(),
    signature: z
      .object({
        isValid: z.boolean(),
        wasSignedByGitHub: z.boolean(),
        /** Null for an account that is gone. */
        signer: z.object({ login: z.string() }).nullable(),
      })
      .nullable(),
  }),
});

const answer = z.object({
  repository: z.object({
    pullRequest: z.object({
      commits: z.object({
        nodes: z.array(node),
        pageInfo: z.object({ hasNextPage: z.boolean(), endCursor: z.string().nullable() }),
      }),
    }),
  }),
});

/** GitHub lists 250 commits here. */
const MAX_PAGES = 3;

/**
 * Logins by the id of the commit, of valid signatures; null where no account's key made it. GitHub signs with its own
 * key what is made on its pages or by its API: that tells nothing of who asked for it.
 */
export async function readSigners(
  client: GitHubClient,
  ref: PullRequestRef,
): Promise<ReadonlyMap<string, string | null>> {
  const what = 'the signers of commits';
  const octokit = requireFound(await client.forRepository(ref.repository), what);
  const signers = new Map<string, string | null>();
  let cursor: string | null = null;
  for (let page = 0; page < MAX_PAGES; page++) {
    const variables = { ...repositoryAddress(ref.repository), number: ref.number, cursor };
    const read: z.output<typeof answer> = await askGraphql(octokit, what, SIGNERS_QUERY, variables, answer);
    const { nodes, pageInfo } = read.repository.pullRequest.commits;
    for (const { commit } of nodes) {
      if (commit.signature?.isValid === true) {
        signers.set(commit.oid, commit.signature.wasSignedByGitHub ? null : (commit.signature.signer?.login ?? null));
      }
    }
    if (!pageInfo.hasNextPage) {
      break;
    }
    cursor = pageInfo.endCursor;
  }
  return signers;
}
