import type { Octokit } from 'octokit';
import { z } from 'zod';
import { parseAnswer, requireFound } from '../answer.ts';
import { ForgeError } from '../port/forge-error.ts';
import type {
  Overviews,
  RepositoryHead,
  RepositoryOverview,
  StatusesAt,
  ToldWriter,
} from '../port/many-repositories.ts';
import { branchOfGroup } from '../port/merge-queue.ts';
import type { PostedStatus } from '../port/postings.ts';
import type { PullRequestRef } from '../port/pull-request.ts';
import { ACTOR, actor } from './actor.ts';
import type { GitHubClient } from './client.ts';
import { repositoryAddress } from './read.ts';
import { askGraphql, askPartialGraphql } from './request.ts';
import { mayWrite } from './reviews.ts';
import { commitWithStatuses, STATUSES, toPostedStatuses } from './statuses.ts';

/** One point of the GraphQL limit: each of so many connections counts a hundredth. */
const MAX_REPOSITORIES = 100;
/** So that no answer takes GitHub longer than it waits (10 s). The others of a repository are read for it alone. */
const MAX_PULL_REQUESTS = 30;
/** Ten thousand pull requests. */
const MAX_PAGES = 100;
const WHAT = 'the statuses of commits';
/** For the same reason. No connection is read of them, so that they cost no point. */
const MAX_HEADS = 100;

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

/**
 * Aliases `r0`, `r1`, … with their variables: names never become part of the query's text. `heads`: of which repository
 * each is.
 */
export function overviewQuery(count: number, heads: readonly number[] = []): string {
  const indices = Array.from({ length: count }, (_, index) => index);
  const variables = [
    ...indices.map((index) => `$o${index}: String!, $n${index}: String!`),
    ...heads.map((_, index) => `$h${index}: GitObjectID!`),
  ].join(', ');
  const parts = indices.map((index) => {
    const commits = heads.flatMap((of, head) => (of === index ? [commitPart(head)] : []));
    return `r${index}: repository(owner: $o${index}, name: $n${index}) { ...overview ${commits.join(' ')} }`;
  });
  return `query (${variables}) {\n${parts.join('\n')}\n}\n${FIELDS}`;
}

export function statusesQuery(count: number): string {
  const indices = Array.from({ length: count }, (_, index) => index);
  const variables = indices.map((index) => `, $h${index}: GitObjectID!`).join('');
  return `query ($owner: String!, $repo: String!${variables}) {
  repository(owner: $owner, name: $repo) {\n${indices.map(commitPart).join('\n')}\n}
}`;
}

/** Aliases as in {@link overviewQuery}: `r0` is the repository of the first pull request. */
export function writersQuery(count: number): string {
  const indices = Array.from({ length: count }, (_, index) => index);
  const variables = indices.map((index) => `$o${index}: String!, $n${index}: String!, $p${index}: Int!`).join(', ');
  const parts = indices.map(
    (index) =>
      `r${index}: repository(owner: $o${index}, name: $n${index}) { pullRequest(number: $p${index}) { ...decided } }`,
  );
  return `query (${variables}) {\n${parts.join('\n')}\n}
fragment decided on PullRequest {
  reviews(last: 100, states: [APPROVED, CHANGES_REQUESTED]) { nodes { author ${ACTOR} authorCanPushToRepository } }
}`;
}

function commitPart(index: number): string {
  return `s${index}: object(oid: $h${index}) { ... on Commit { ${STATUSES} } }`;
}

/** Null for what is not there, and empty for what is no commit. */
const commitNode = z.union([commitWithStatuses, z.strictObject({}).transform(() => null)]).nullable();

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
  .looseObject({
    nameWithOwner: z.string(),
    isArchived: z.boolean(),
    pullRequests: pullRequestPage,
  })
  .nullable();
const moreAnswer = z.object({ repository: z.object({ pullRequests: pullRequestPage }) });
const answer = z.record(z.string(), repository);
const writersAnswer = z.record(
  z.string(),
  z
    .object({
      pullRequest: z.object({
        reviews: z.object({
          nodes: z.array(z.object({ author: actor, authorCanPushToRepository: z.boolean().nullish() })),
        }),
      }),
    })
    .nullable(),
);
const statusesAnswer = z.object({ repository: z.record(z.string(), z.unknown()) });

/** By GraphQL: a search has an index that follows later, and does not say where heads and base branches are. */
export function makeOverviews(client: GitHubClient, self: () => Promise<string>): Overviews {
  return {
    scope: client.kind === 'app' ? 'owner' : 'any',
    maxRepositories: MAX_REPOSITORIES,

    async read(repositories, heads = []) {
      const [first] = repositories;
      const octokit = first === undefined ? undefined : await client.forRepository(first);
      return octokit === undefined
        ? new Map()
        : readOverviews(octokit, repositories, heads.slice(0, MAX_HEADS), await self());
    },

    async statuses(name, heads) {
      const octokit = requireFound(await client.forRepository(name), WHAT);
      const found = new Map<string, readonly PostedStatus[]>();
      const login = await self();
      for (let start = 0; start < heads.length; start += MAX_HEADS) {
        for (const [sha, posted] of await readStatuses(octokit, name, heads.slice(start, start + MAX_HEADS), login)) {
          found.set(sha, posted);
        }
      }
      return found;
    },

    async writers(pullRequests) {
      const [first] = pullRequests;
      const octokit = first && (await client.forRepository(first.repository));
      return octokit === undefined ? [] : readWriters(octokit, pullRequests);
    },
  };
}

async function readOverviews(
  octokit: Octokit,
  names: readonly string[],
  heads: readonly RepositoryHead[],
  self: string,
): Promise<ReadonlyMap<string, RepositoryOverview>> {
  const query = overviewQuery(
    names.length,
    heads.map((head) => names.indexOf(head.repository)),
  );
  const parameters = { ...repositoryVariables(names), ...headVariables(heads.map(({ headSha }) => headSha)) };
  const read = await askPartialGraphql(octokit, 'overviews', query, parameters, answer);
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

async function readStatuses(
  octokit: Octokit,
  name: string,
  heads: readonly string[],
  self: string,
): Promise<StatusesAt> {
  const parameters = { ...repositoryAddress(name), ...headVariables(heads) };
  const query = statusesQuery(heads.length);
  const read = await askGraphql(octokit, WHAT, query, parameters, statusesAnswer);
  return statusesIn(read.repository, self);
}

async function readWriters(octokit: Octokit, asked: readonly PullRequestRef[]): Promise<readonly ToldWriter[]> {
  const parameters = {
    ...repositoryVariables(asked.map(({ repository: name }) => name)),
    ...Object.fromEntries(asked.map(({ number }, index) => [`p${index}`, number])),
  };
  const query = writersQuery(asked.length);
  const read = await askPartialGraphql(octokit, 'permissions of reviewers', query, parameters, writersAnswer);
  return asked.flatMap(({ repository: name }, index) =>
    (read[`r${index}`]?.pullRequest.reviews.nodes ?? []).map(({ author, authorCanPushToRepository }) => ({
      repository: name,
      login: author.login.toLowerCase(),
      mayWrite: mayWrite(author, authorCanPushToRepository),
    })),
  );
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

function headVariables(heads: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(heads.map((sha, index) => [`h${index}`, sha]));
}

function statusesIn(nodes: Readonly<Record<string, unknown>>, self: string): StatusesAt {
  return new Map(
    Object.entries(nodes).flatMap(([name, node]) => {
      const commit = /^s\d+$/.test(name) ? parseAnswer(commitNode, node, WHAT) : null;
      return commit === null ? [] : [[commit.oid, toPostedStatuses(commit, self)] as const];
    }),
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
    statuses: new Map([
      ...statusesIn(found, self),
      ...groups.map(({ head }) => [head.oid, toPostedStatuses(head, self)] as const),
    ]),
  };
}
