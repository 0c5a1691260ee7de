import type { Octokit } from 'octokit';
import { z } from 'zod';
import { ForgeError } from '../port/forge-error.ts';
import type { Overviews, RepositoryOverview } from '../port/many-repositories.ts';
import { branchOfGroup } from '../port/merge-queue.ts';
import type { GitHubClient } from './client.ts';
import { repositoryAddress } from './read.ts';
import { askPartialGraphql } from './request.ts';
import { commitWithStatuses, STATUSES, toPostedStatuses } from './statuses.ts';

/** One point of the GraphQL limit: each of so many connections counts a hundredth. */
const MAX_REPOSITORIES = 100;
/** So that no answer takes GitHub longer than it waits (10 s). The others of a repository are read for it alone. */
const MAX_PULL_REQUESTS = 30;
/** Ten thousand pull requests. */
const MAX_PAGES = 100;

/** No text of anybody: whoever opens pull requests cannot make a list too large to be read. */
const PAGE = `nodes {
      number updatedAt headRefOid baseRefName baseRef { target { oid } }
      mergeQueueEntry { baseCommit { oid } headCommit { ${STATUSES} } }
    }
    pageInfo { hasNextPage endCursor }`;

const FIELDS = `fragment overview on Repository {
  nameWithOwner
  isArchived
  pullRequests(states: OPEN, first: ${MAX_PULL_REQUESTS}) {
    ${PAGE}
  }
}`;

export const MORE_QUERY = `query ($owner: String!, $repo: String!, $cursor: String) {
  repository(owner: $owner, name: $repo) {
    pullRequests(states: OPEN, first: 100, after: $cursor) {
    ${PAGE}
    }
  }
}`;

/** Aliases `r0`, `r1`, … with their variables: names never become part of the query's text. */
export function overviewQuery(count: number): string {
  const indices = Array.from({ length: count }, (_, index) => index);
  const variables = indices.map((index) => `$o${index}: String!, $n${index}: String!`).join(', ');
  const parts = indices.map((index) => `r${index}: repository(owner: $o${index}, name: $n${index}) { ...overview }`);
  return `query (${variables}) {\n${parts.join('\n')}\n}\n${FIELDS}`;
}

const pullRequestPage = z.object({
  nodes: z.array(
    z.object({
      number: z.number().int(),
      updatedAt: z.string(),
      headRefOid: z.string(),
      baseRefName: z.string(),
      baseRef: z.object({ target: z.object({ oid: z.string() }).nullable() }).nullable(),
      // Null where it is in no queue; its commits are where no group was made for it yet.
      mergeQueueEntry: z
        .object({
          baseCommit: z.object({ oid: z.string() }).nullable(),
          headCommit: commitWithStatuses.nullable(),
        })
        .nullable(),
    }),
  ),
  pageInfo: z.object({ hasNextPage: z.boolean(), endCursor: z.string().nullable() }),
});
type PullRequestPage = z.output<typeof pullRequestPage>;
const repository = z
  .object({
    nameWithOwner: z.string(),
    isArchived: z.boolean(),
    pullRequests: pullRequestPage,
  })
  .nullable();
const moreAnswer = z.object({ repository: z.object({ pullRequests: pullRequestPage }) });
const answer = z.record(z.string(), repository);
/** By GraphQL: a search has an index that follows later, and does not say where heads and base branches are. */
export function makeOverviews(client: GitHubClient, self: () => Promise<string>): Overviews {
  return {
    scope: client.kind === 'app' ? 'owner' : 'any',
    maxRepositories: MAX_REPOSITORIES,

    async read(repositories) {
      const [first] = repositories;
      const octokit = first === undefined ? undefined : await client.forRepository(first);
      return octokit === undefined ? new Map() : readOverviews(octokit, repositories, await self());
    },
  };
}

async function readOverviews(
  octokit: Octokit,
  names: readonly string[],
  self: string,
): Promise<ReadonlyMap<string, RepositoryOverview>> {
  const query = overviewQuery(names.length);
  const read = await askPartialGraphql(octokit, 'overviews', query, repositoryVariables(names), answer);
  const found = new Map<string, RepositoryOverview>();
  for (const [index, name] of names.entries()) {
    const first = read[`r${index}`];
    const nodes = first?.nameWithOwner === name ? await allNodes(octokit, name, first.pullRequests) : undefined;
    if (first != null && nodes !== undefined) {
      found.set(name, toOverview(name, first, nodes, self));
    }
  }
  return found;
}

/** With those of the following pages. Undefined where these cannot be read, or are too many. */
async function allNodes(
  octokit: Octokit,
  name: string,
  first: PullRequestPage,
): Promise<PullRequestPage['nodes'] | undefined> {
  const nodes = [...first.nodes];
  let { pageInfo } = first;
  for (let page = 0; pageInfo.hasNextPage; page++) {
    if (page === MAX_PAGES) {
      return undefined;
    }
    const variables = { ...repositoryAddress(name), cursor: pageInfo.endCursor };
    try {
      const more = await askPartialGraphql(octokit, 'open pull requests', MORE_QUERY, variables, moreAnswer);
      nodes.push(...more.repository.pullRequests.nodes);
      pageInfo = more.repository.pullRequests.pageInfo;
    } catch (error) {
      if (error instanceof ForgeError && error.kind !== 'rate-limited') {
        return undefined;
      }
      throw error;
    }
  }
  return nodes;
}

function repositoryVariables(names: readonly string[]): Readonly<Record<string, string>> {
  const addresses = names.map(repositoryAddress);
  return Object.fromEntries(
    addresses.flatMap(({ owner, repo }, index) => [
      [`o${index}`, owner],
      [`n${index}`, repo],
    ]),
  );
}

function toOverview(
  name: string,
  found: NonNullable<z.output<typeof repository>>,
  nodes: PullRequestPage['nodes'],
  self: string,
): RepositoryOverview {
  const groups = nodes.flatMap(({ number, baseRefName: branch, mergeQueueEntry }) => {
    const { baseCommit = null, headCommit = null } = mergeQueueEntry ?? {};
    return baseCommit === null || headCommit === null
      ? []
      : [{ branch, head: headCommit, headRef: branchOfGroup(branch, number, baseCommit.oid) }];
  });
  return {
    pullRequests: nodes.map(({ number, updatedAt, headRefOid, baseRefName }) => ({
      repository: name,
      number,
      archived: found.isArchived,
      updatedAt,
      base: { branch: baseRefName },
      head: { sha: headRefOid },
    })),
    baseCommits: new Map(nodes.map(({ baseRefName, baseRef }) => [baseRefName, baseRef?.target?.oid ?? null])),
    mergeGroups: groups.map(({ branch, head, headRef }) => ({ branch, headSha: head.oid, headRef, isGone: false })),
    statuses: new Map(groups.map(({ head }) => [head.oid, toPostedStatuses(head, self)])),
  };
}
