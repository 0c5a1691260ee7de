import type { Octokit } from 'octokit';
import { z } from 'zod';
import { requireFound } from '../answer.ts';
import { type Check, type Checks, NOT_ENDED, QUEUED } from '../port/checks.ts';
import { type ReportedRun, type ReportedSuite, standingChecks, standingStatuses } from '../standing-checks.ts';
import type { GitHubClient } from './client.ts';
import { repositoryAddress } from './read.ts';
import { askAll, askWhatIsAllowed } from './request.ts';
import * as shapes from './shapes.ts';

// `LATEST` would hide a failed job behind another of its name. 50 suites, so that no answer takes GitHub longer than it
// waits (10 s): a connection within each, which together cost one point.
const RUNS = `checkRuns(first: 100, after: $runs, filterBy: { checkType: ALL }) {
  totalCount
  nodes { databaseId name status conclusion startedAt completedAt url }
  pageInfo { hasNextPage endCursor }
}`;

const HEADS = '{ nodes { number headRefOid } pageInfo { hasNextPage } }';

/**
 * Only GraphQL says which workflow a check suite is of. GitHub associates a commit with pull requests from branches of
 * the repository only: those from forks are among the open ones.
 */
export const CHECKS_QUERY = `query ($owner: String!, $repo: String!, $sha: GitObjectID!, $suites: String, $runs: String) {
  repository(owner: $owner, name: $repo) {
    object(oid: $sha) {
      ... on Commit {
        oid
        checkSuites(first: 50, after: $suites) {
          totalCount
          nodes {
            id databaseId status conclusion
            app { slug } branch { name } workflowRun { event workflow { id } }
            ${RUNS}
          }
          pageInfo { hasNextPage endCursor }
        }
        associatedPullRequests(first: 100) ${HEADS}
      }
    }
    pullRequests(first: 100, states: OPEN) ${HEADS}
  }
}`;

export const MORE_RUNS_QUERY = `query ($suite: ID!, $runs: String) { node(id: $suite) { ... on CheckSuite { ${RUNS} } } }`;

const pageInfo = z.object({ hasNextPage: z.boolean(), endCursor: z.string().nullable() });
const word = z.string().toLowerCase();

const runs = z.object({
  totalCount: z.number().int(),
  nodes: z.array(
    z.object({
      databaseId: z.number().int(),
      name: z.string(),
      status: word,
      conclusion: word.nullable(),
      startedAt: z.string().nullable(),
      completedAt: z.string().nullable(),
      url: z.string(),
    }),
  ),
  pageInfo,
});

const suite = z.object({
  id: z.string(),
  databaseId: z.number().int(),
  status: word,
  conclusion: word.nullable(),
  app: z.object({ slug: z.string() }).nullable(),
  branch: z.object({ name: z.string() }).nullable(),
  workflowRun: z.object({ event: z.string(), workflow: z.object({ id: z.string() }) }).nullable(),
  checkRuns: runs,
});

const suites = z.object({ totalCount: z.number().int(), nodes: z.array(suite), pageInfo });

const heads = z.object({
  nodes: z.array(z.object({ number: z.number().int(), headRefOid: z.string() })),
  pageInfo: z.object({ hasNextPage: z.boolean() }),
});

/** No suites where the permission is missing. */
const commit = z.object({ oid: z.string(), associatedPullRequests: heads, checkSuites: suites.nullable() });
const answer = z.object({
  repository: z.object({ pullRequests: heads, object: commit.nullable() }).nullable(),
});
const moreAnswer = z.object({ node: z.object({ checkRuns: runs }) });

type Heads = z.output<typeof heads>;
type Suite = z.output<typeof suite>;
type Run = z.output<typeof runs>['nodes'][number];

/** Ten thousand check runs, or 5,000 check suites. */
const MAX_PAGES = 100;

/** Commit statuses and check runs, which GitHub keeps apart: one of each may have the same name. */
export async function checks(client: GitHubClient, repository: string, sha: string): Promise<Checks> {
  const octokit = requireFound(await client.forRepository(repository), 'the checks of a commit');
  const [statuses, { listed, ...about }] = await Promise.all([
    statusesOf(octokit, { ...repositoryAddress(repository), ref: sha }),
    suitesOf(octokit, { ...repositoryAddress(repository), sha }),
  ]);
  const standing = standingChecks(listed);
  const shown = standing.runs.map(({ id, startedAt, endedAt, ...check }): Check => check);
  return { checks: [...statuses, ...shown], suites: standing.suites, ...about };
}

type Address = Readonly<Record<string, string>>;

async function statusesOf(octokit: Octokit, parameters: Address): Promise<readonly Check[]> {
  // All of them, newest first: the combined status does not say who set one.
  const route = 'GET /repos/{owner}/{repo}/commits/{ref}/statuses';
  const answer = requireFound(await askAll(octokit, route, parameters, shapes.statuses), route);
  return standingStatuses(
    answer.map(({ context, creator, state, target_url: url }) => ({
      kind: 'status',
      name: context,
      reporter: creator,
      state,
      ...(url && { url }),
    })),
  );
}

interface Listed extends Pick<Checks, 'complete' | 'lacking'> {
  readonly listed: readonly ReportedSuite[];
}

async function suitesOf(octokit: Octokit, address: Address): Promise<Listed> {
  const reader = makeReader(octokit);
  const found: Suite[] = [];
  let isAlone: IsAlone = () => false;
  let isWhole = false;
  let cursor: string | null | undefined = null;
  while (cursor !== undefined && reader.mayAsk()) {
    const { object: of, pullRequests: open } = await reader.suites({ ...address, suites: cursor });
    const page = of.checkSuites;
    isAlone = aloneAt(of, open);
    found.push(...(page?.nodes ?? []));
    isWhole = page !== null && !page.pageInfo.hasNextPage && found.length >= page.totalCount;
    cursor = page?.pageInfo.hasNextPage ? page.pageInfo.endCursor : undefined;
  }
  const listed: ReportedSuite[] = [];
  for (const one of found) {
    const { nodes, pageInfo } = await reader.allRuns(one);
    isWhole &&= !pageInfo.hasNextPage && nodes.length >= one.checkRuns.totalCount;
    listed.push(toSuite(one, nodes, isAlone));
  }
  const lacking = reader.lacking();
  return { listed, complete: isWhole && lacking === undefined, ...(lacking !== undefined && { lacking }) };
}

/** Asks for pages, as many as are read of one commit. */
function makeReader(octokit: Octokit) {
  const refused = new Set<unknown>();
  let left = MAX_PAGES;

  async function ask<T>(query: string, variables: Readonly<Record<string, unknown>>, shape: z.ZodType<T>): Promise<T> {
    left -= 1;
    const read = await askWhatIsAllowed(octokit, 'the checks of a commit', query, variables, shape);
    for (const field of read.refused) {
      refused.add(field);
    }
    return read.answer;
  }

  return {
    mayAsk: () => left > 0,
    async suites(variables: Readonly<Record<string, unknown>>) {
      const { repository } = await ask(CHECKS_QUERY, variables, answer);
      const { object, pullRequests } = requireFound(repository ?? undefined, 'the repository');
      return { pullRequests, object: requireFound(object ?? undefined, 'the commit') };
    },
    async allRuns({ id, checkRuns }: Suite) {
      const nodes = [...checkRuns.nodes];
      let { pageInfo } = checkRuns;
      while (pageInfo.hasNextPage && left > 0) {
        const more = await ask(MORE_RUNS_QUERY, { suite: id, runs: pageInfo.endCursor }, moreAnswer);
        nodes.push(...more.node.checkRuns.nodes);
        pageInfo = more.node.checkRuns.pageInfo;
      }
      return { nodes, pageInfo };
    },
    lacking(): string | undefined {
      if (refused.size === 0) {
        return undefined;
      }
      return refused.has('workflowRun') ? 'Actions: read' : 'Checks: read';
    },
  };
}

/** A suite that was queued and has runs has begun: they were made for it, and those that are not listed as well. */
function toSuite(of: Suite, nodes: readonly Run[], isAlone: IsAlone): ReportedSuite {
  const reporter = of.app === null ? '' : `${of.app.slug}[bot]`;
  const isEmpty = of.status === 'queued' && nodes.length === 0;
  return {
    id: of.databaseId,
    source: sourceOf(of, isAlone),
    isWorkflow: of.workflowRun !== null || of.app?.slug === ACTIONS,
    reporter,
    state: isEmpty ? QUEUED : stateOf(of),
    runs: nodes.map((run) => toRun(run, reporter)),
  };
}

type IsAlone = (branch: Suite['branch']) => boolean;

/** Whether one pull request alone, from a branch or a fork, is known to have this commit as its head. */
function aloneAt({ oid, associatedPullRequests: ofBranches }: z.output<typeof commit>, open: Heads): IsAlone {
  const all = [...ofBranches.nodes, ...open.nodes].filter(({ headRefOid }) => headRefOid === oid);
  const isOne = new Set(all.map(({ number }) => number)).size === 1;
  return (branch) => isOne && !(open.pageInfo.hasNextPage && (branch === null || ofBranches.pageInfo.hasNextPage));
}

/**
 * A workflow that runs on push and for the pull request tests two different things, and so it does on another branch
 * with the same commit. What names neither a workflow nor another App, such as a run that a workflow reported by the
 * API, is a source of its own. So is each run for a pull request where another may have the same head: GitHub does not
 * say which base it tested.
 */
function sourceOf({ id, app, branch, workflowRun }: Suite, isAlone: IsAlone): string {
  if (workflowRun === null && (app === null || app.slug === ACTIONS)) {
    return id;
  }
  if (workflowRun?.event.startsWith('pull_request') && !isAlone(branch)) {
    return id;
  }
  return JSON.stringify([app?.slug, workflowRun?.workflow.id, workflowRun?.event, branch?.name ?? null]);
}

const ACTIONS = 'github-actions';

function toRun(run: Run, reporter: string): ReportedRun {
  return {
    kind: 'check-run',
    name: run.name,
    reporter,
    state: stateOf(run),
    url: run.url,
    id: run.databaseId,
    startedAt: Date.parse(run.startedAt ?? ''),
    endedAt: Date.parse(run.completedAt ?? ''),
  };
}

function stateOf({ status, conclusion }: Pick<Run, 'status' | 'conclusion'>): string {
  return status === 'completed' ? (conclusion ?? NOT_ENDED) : NOT_ENDED;
}
