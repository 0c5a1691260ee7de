import type { z } from 'zod';
import { requireFound } from '../answer.ts';
import { withPresentName } from '../moved.ts';
import { ForgeError } from '../port/forge-error.ts';
import { splitRepository, splitTeam } from '../port/names.ts';
import type { PostedStatus } from '../port/postings.ts';
import type {
  OpenPullRequest,
  OpenPullRequests,
  PullRequest,
  PullRequestRef,
  RepositoryNow,
  Visibility,
} from '../port/pull-request.ts';
import type { Question } from '../port/question.ts';
import { yesNo } from '../port/yes-no.ts';
import { isFirstTime } from './actor.ts';
import type { GitHubAccount, GitHubClient } from './client.ts';
import { ask, askAll, askList } from './request.ts';
import * as shapes from './shapes.ts';

/** The parameters that a route about a pull request, or its repository, needs. */
export function address(ref: PullRequestRef): { owner: string; repo: string; pull_number: number } {
  return { ...repositoryAddress(ref.repository), pull_number: ref.number };
}

export function repositoryAddress(repository: string): { owner: string; repo: string } {
  const { owner, name } = splitRepository(repository);
  return { owner, repo: name };
}

/** The forge's answer to a question of a fact. */
export async function answerTo<Answer>(
  client: GitHubClient,
  { repository, number }: PullRequestRef,
  { path, shape }: Question<Answer>,
): Promise<Answer> {
  const route = `GET ${path}`;
  const octokit = await client.forRepository(repository);
  return requireFound(await ask(octokit, route, { ...repositoryAddress(repository), number }, shape), route);
}

async function openPullRequests(client: GitHubClient, repository: string): Promise<OpenPullRequests | undefined> {
  const octokit = await client.forRepository(repository);
  const address = repositoryAddress(repository);
  const parameters = { ...address, state: 'open', sort: 'created', direction: 'asc' };
  const list = await askList(octokit, 'GET /repos/{owner}/{repo}/pulls', parameters, shapes.pulls);
  return (
    list &&
    withPresentName(repository, list.url, list.items.map(toListed), () =>
      ask(octokit, 'GET /repos/{owner}/{repo}', address, shapes.repository),
    )
  );
}

async function repositoryNow(client: GitHubClient, repository: string): Promise<RepositoryNow | undefined> {
  const octokit = await client.forRepository(repository);
  const answer = await ask(octokit, 'GET /repos/{owner}/{repo}', repositoryAddress(repository), shapes.repositoryNow);
  return answer && toRepositoryNow(answer);
}

export function toRepositoryNow(answer: z.output<typeof shapes.repositoryNow>): RepositoryNow {
  return {
    id: answer.id,
    ownerId: answer.owner.id,
    name: answer.full_name,
    defaultBranch: answer.default_branch,
    visibility: visibilityOf(answer),
    topics: answer.topics,
  };
}

/** What is not private is public, whatever a word says that is not known. */
function visibilityOf({
  private: isPrivate,
  visibility,
}: z.output<typeof shapes.repositoryNow>): Visibility | undefined {
  return isPrivate ? HIDDEN.find((word) => word === visibility) : 'public';
}

const HIDDEN = ['internal', 'private'] as const;

export function toPullRequest(answer: z.output<typeof shapes.pull>): PullRequest {
  return { ...toListed(answer), body: answer.body ?? '' };
}

function toListed(answer: z.output<typeof shapes.listedPull>): OpenPullRequest {
  return {
    repository: answer.base.repo.full_name,
    number: answer.number,
    url: answer.html_url,
    state: answer.merged_at == null ? answer.state : 'merged',
    archived: answer.base.repo.archived,
    title: answer.title,
    author: answer.user,
    firstTime: isFirstTime(answer.author_association),
    draft: yesNo(answer.draft),
    // Sorted: REST and GraphQL list them in different orders.
    labels: answer.labels.map((label) => label.name).sort(),
    updatedAt: answer.updated_at,
    base: { branch: answer.base.ref },
    head: { branch: answer.head.ref, sha: answer.head.sha, repository: answer.head.repo?.full_name ?? null },
  };
}

async function teamMembers(client: GitHubClient, team: string): Promise<readonly string[] | undefined> {
  const names = splitTeam(team);
  if (names === undefined) {
    return undefined;
  }
  const route = 'GET /orgs/{org}/teams/{team_slug}/members';
  const parameters = { org: names.organisation, team_slug: names.name };
  try {
    const octokit = await client.forOrganisation(names.organisation);
    const answer = await askAll(octokit, route, parameters, shapes.members);
    return answer?.map((member) => member.login);
  } catch (error) {
    if (error instanceof ForgeError && error.status === 403) {
      return undefined; // No permission to read it.
    }
    throw error;
  }
}

async function status(
  client: GitHubAccount,
  repository: string,
  sha: string,
  context: string,
): Promise<PostedStatus | undefined> {
  return (await statuses(client, repository, sha, context))?.[0];
}

async function statuses(
  client: GitHubAccount,
  repository: string,
  sha: string,
  context: string,
): Promise<readonly PostedStatus[] | undefined> {
  const self = await client.self();
  const octokit = await client.forRepository(repository);
  // All of them, newest first: the combined status, which has the newest of each context, does not say who set it.
  // GitHub compares contexts without case.
  const route = 'GET /repos/{owner}/{repo}/commits/{ref}/statuses';
  const parameters = { ...repositoryAddress(repository), ref: sha };
  const answer = await askAll(octokit, route, parameters, shapes.statuses).catch(noSuchCommit);
  return answer
    ?.filter((candidate) => candidate.context.toLowerCase() === context.toLowerCase())
    .map(({ creator, state, description, target_url, updated_at }) => ({
      own: creator.toLowerCase() === self.toLowerCase(),
      creator,
      context,
      state,
      description: description ?? '',
      ...(target_url ? { targetUrl: target_url } : {}),
      updatedAt: updated_at,
    }));
}

/** Statuses of one context. GitHub compares contexts without case. */
export const MAX_STATUSES = 1_000;
/** How many statuses of all contexts are read to count those of one. */
const MAX_STATUSES_READ = 3 * MAX_STATUSES;

/** How many statuses of a context a commit has; {@link MAX_STATUSES} where there are too many of others beside them. */
export async function statusCount(
  client: GitHubClient,
  repository: string,
  sha: string,
  context: string,
): Promise<number> {
  const octokit = await client.forRepository(repository);
  const route = 'GET /repos/{owner}/{repo}/commits/{ref}/statuses';
  const parameters = { ...repositoryAddress(repository), ref: sha };
  const enough = (items: readonly unknown[]) => items.length >= MAX_STATUSES_READ;
  const all = (await askAll(octokit, route, parameters, shapes.statuses, enough).catch(noSuchCommit)) ?? [];
  const same = all.filter((status) => status.context.toLowerCase() === context.toLowerCase());
  return all.length >= MAX_STATUSES_READ ? MAX_STATUSES : same.length;
}

/** For `catch`: for a commit that is not there some routes answer 422 and not 404. */
export function noSuchCommit(error: unknown): undefined {
  if (error instanceof ForgeError && error.status === 422) {
    return undefined;
  }
  throw error;
}

/** The methods of a forge that are here. */
export const METHODS = { openPullRequests, repository: repositoryNow, teamMembers, status, statuses };
