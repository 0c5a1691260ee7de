import type { Octokit } from 'octokit';
import { z } from 'zod';
import type { Overviews, RepositoryOverview } from '../port/many-repositories.ts';
import type { GitHubClient } from './client.ts';
import { repositoryAddress } from './read.ts';
import { askPartialGraphql } from './request.ts';

/** One point of the GraphQL limit: each of so many connections counts a hundredth. */
const MAX_REPOSITORIES = 100;
/** A repository with more is looked at by itself, so that no answer takes GitHub longer than it waits (10 s). */
const MAX_PULL_REQUESTS = 30;

const FIELDS = `fragment overview on Repository {
  nameWithOwner
  isArchived
  pullRequests(states: OPEN, first: ${MAX_PULL_REQUESTS}) {
    nodes { number updatedAt headRefOid baseRefName baseRef { target { oid } } }
    pageInfo { hasNextPage }
  }
}`;

/** Aliases `r0`, `r1`, … with their variables: names never become part of the query's text. */
export function overviewQuery(count: number): string {
  const indices = Array.from({ length: count }, (_, index) => index);
  const variables = indices.map((index) => `$o${index}: String!, $n${index}: String!`).join(', ');
  const parts = indices.map((index) => `r${index}: repository(owner: $o${index}, name: $n${index}) { ...overview }`);
  return `query (${variables}) {\n${parts.join('\n')}\n}\n${FIELDS}`;
}

const repository = z.object({
  nameWithOwner: z.string(),
  isArchived: z.boolean(),
  pullRequests: z.object({
    nodes: z.array(
      z.object({
        number: z.number().int(),
        updatedAt: z.string(),
        headRefOid: z.string(),
        baseRefName: z.string(),
        baseRef: z.object({ target: z.object({ oid: z.string() }).nullable() }).nullable(),
      }),
    ),
    pageInfo: z.object({ hasNextPage: z.boolean() }),
  }),
});
const answer = z.record(z.string(), repository.nullable());

/** By GraphQL: a search has an index that follows later, and does not say where heads and base branches are. */
export function makeOverviews(client: GitHubClient): Overviews {
  return {
    scope: client.kind === 'app' ? 'owner' : 'any',
    maxRepositories: MAX_REPOSITORIES,

    async read(repositories) {
      const [first] = repositories;
      const octokit = first === undefined ? undefined : await client.forRepository(first);
      return octokit === undefined ? new Map() : readOverviews(octokit, repositories);
    },
  };
}

async function readOverviews(
  octokit: Octokit,
  names: readonly string[],
): Promise<ReadonlyMap<string, RepositoryOverview>> {
  const variables = names.flatMap((name, index) => {
    const { owner, repo } = repositoryAddress(name);
    return [
      [`o${index}`, owner],
      [`n${index}`, repo],
    ] as const;
  });
  const query = overviewQuery(names.length);
  const read = await askPartialGraphql(octokit, 'overviews', query, Object.fromEntries(variables), answer);
  return new Map(
    names.flatMap((name, index) => {
      const overview = toOverview(name, read[`r${index}`]);
      return overview === undefined ? [] : [[name, overview] as const];
    }),
  );
}

function toOverview(
  name: string,
  found: z.output<typeof repository> | null | undefined,
): RepositoryOverview | undefined {
  if (found == null || found.nameWithOwner !== name || found.pullRequests.pageInfo.hasNextPage) {
    return undefined;
  }
  const { isArchived: archived, pullRequests } = found;
  return {
    pullRequests: pullRequests.nodes.map(({ number, updatedAt, headRefOid, baseRefName }) => ({
      repository: name,
      number,
      archived,
      updatedAt,
      base: { branch: baseRefName },
      head: { sha: headRefOid },
    })),
    baseCommits: new Map(
      pullRequests.nodes.map(({ baseRefName, baseRef }) => [baseRefName, baseRef?.target?.oid ?? null]),
    ),
  };
}
