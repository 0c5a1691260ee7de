import type { z } from 'zod';
import { requireFound } from '../answer.ts';
import { withPresentName } from '../moved.ts';
import { ForgeError } from '../port/forge-error.ts';
import { splitRepository, splitTeam } from '../port/names.ts';
import type { PostedStatus, StatusState } from '../port/postings.ts';
import type {
  OpenPullRequest,
  OpenPullRequests,
  PullRequest,
  PullRequestNow,
  PullRequestRef,
  RepositoryNow,
  Visibility,
} from '../port/pull-request.ts';
import type { Question } from '../port/question.ts';
import { yesNo } from '../port/yes-no.ts';
import { type GiteaAccount, type GiteaClient, path, SHORT } from './client.ts';
import * as shapes from './shapes.ts';

/** WORK_IN_PROGRESS_PREFIXES as installed. */
const DRAFT_TITLE = /^(?:wip:|\[wip\])/i;

export function repositoryPath(repository: string): string {
  const { owner, name } = splitRepository(repository);
  return path('repos', owner, name);
}

export function pullPath(ref: PullRequestRef): string {
  return `${repositoryPath(ref.repository)}/pulls/${ref.number}`;
}

export async function pullRequest(client: GiteaClient, ref: PullRequestRef): Promise<PullRequestNow | undefined> {
  const answer = await client.ask(pullPath(ref), shapes.pull);
  if (answer === undefined) {
    return undefined;
  }
  const { base, comments, review_comments, changed_files: changedFileCount, merge_base } = answer;
  // Left out when there are none, and unknown to the versions that do not count files either.
  const reviews = review_comments ?? (changedFileCount === undefined ? undefined : 0);
  const commentCount = comments === undefined || reviews === undefined ? undefined : comments + reviews;
  // Empty when there is no such branch.
  return {
    ...toPullRequest(answer),
    baseCommit: base.sha || undefined,
    differenceBase: merge_base || undefined,
    commentCount,
    changedFileCount,
  };
}

/** The forge's answer to a question of a fact. */
export async function answerTo<Answer>(
  client: GiteaClient,
  { repository, number }: PullRequestRef,
  { path: template, shape }: Question<Answer>,
): Promise<Answer> {
  const { owner, name } = splitRepository(repository);
  const values: Readonly<Record<string, string>> = { owner, repo: name, number: String(number) };
  const resource = template.replaceAll(/\{(\w+)\}/g, (_, key: string) => encodeURIComponent(values[key] ?? ''));
  return requireFound(await client.ask(resource, shape), resource);
}

async function openPullRequests(client: GiteaClient, repository: string): Promise<OpenPullRequests | undefined> {
  const route = repositoryPath(repository);
  const list = await client.askList(`${route}/pulls`, shapes.pulls, {
    query: { state: 'open', sort: 'oldest' },
    maxStringBytes: SHORT,
    leaveOutTooLarge: true,
  });
  return (
    list && withPresentName(repository, list.url, list.items.map(toListed), () => client.ask(route, shapes.repository))
  );
}

async function repositoryNow(client: GiteaClient, repository: string): Promise<RepositoryNow | undefined> {
  const answer = await client.ask(repositoryPath(repository), shapes.repositoryNow);
  return answer && toRepositoryNow(answer);
}

export function toRepositoryNow(answer: z.output<typeof shapes.repositoryNow>): RepositoryNow {
  return {
    id: answer.id,
    ownerId: answer.owner.id,
    name: answer.full_name,
    defaultBranch: answer.default_branch,
    visibility: visibilityOf(answer),
    topics: answer.topics ?? undefined,
  };
}

function visibilityOf({ private: isPrivate, internal }: z.output<typeof shapes.repositoryNow>): Visibility | undefined {
  if (isPrivate) {
    return 'private';
  }
  return internal === undefined ? undefined : internal ? 'internal' : 'public';
}

export function toPullRequest(answer: z.output<typeof shapes.pull>): PullRequest {
  return { ...toListed(answer), body: answer.body };
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
    firstTime: 'unknown',
    draft: yesNo(answer.draft ?? DRAFT_TITLE.test(answer.title)),
    labels: answer.labels.map((label) => label.name),
    updatedAt: utc(answer.updated_at),
    base: { branch: answer.base.ref },
    head: {
      branch: answer.head.label || answer.head.ref,
      sha: answer.head.sha,
      // AGit: whoever may read can push to `refs/for/<base>`, and `repo` is then the base repository.
      repository: answer.head.label === '' ? null : (answer.head.repo?.full_name ?? null),
    },
  };
}

/** These forges report times in the zone of their server. */
export function utc(time: string): string {
  const parsed = new Date(time);
  return Number.isNaN(parsed.getTime()) ? time : parsed.toISOString();
}

async function teamMembers(client: GiteaClient, team: string): Promise<readonly string[] | undefined> {
  const names = splitTeam(team);
  if (names === undefined) {
    return undefined;
  }
  const { organisation, name } = names;
  try {
    const query = { q: name, limit: 50 };
    const found = await client.ask(`${path('orgs', organisation, 'teams')}/search`, shapes.teams, { query });
    const match = found?.data.find((candidate) => candidate.name.toLowerCase() === name.toLowerCase());
    const members = match && (await client.askAll(path('teams', match.id, 'members'), shapes.users));
    return members?.map((member) => member.login);
  } catch (error) {
    if (error instanceof ForgeError && error.status === 403) {
      return undefined; // No permission to read it.
    }
    throw error;
  }
}

async function branchCommit(client: GiteaClient, repository: string, branch: string): Promise<string | undefined> {
  const route = `${repositoryPath(repository)}/branches${path(...branch.split('/'))}`;
  return (await client.ask(route, shapes.branch))?.commit.id;
}

async function tagCommit(client: GiteaClient, repository: string, tag: string): Promise<string | undefined> {
  const route = `${repositoryPath(repository)}/tags${path(...tag.split('/'))}`;
  return (await client.ask(route, shapes.tag))?.commit.sha;
}

async function status(
  client: GiteaAccount,
  repository: string,
  sha: string,
  context: string,
): Promise<PostedStatus | undefined> {
  return (await statuses(client, repository, sha, context))?.[0];
}

async function statuses(
  client: GiteaAccount,
  repository: string,
  sha: string,
  context: string,
): Promise<readonly PostedStatus[] | undefined> {
  const self = await client.self();
  const route = `${repositoryPath(repository)}${path('statuses', sha)}`;
  // The forges' own order says nothing within one second; ids ascend.
  const answer = await client.askAll(route, shapes.statuses);
  return answer
    ?.filter((candidate) => candidate.context === context)
    .toSorted((one, other) => other.id - one.id)
    .map(({ creator, status: state, description, target_url, updated_at }) => ({
      own: creator.toLowerCase() === self.toLowerCase(),
      creator,
      context,
      state: toStatusState(state),
      description,
      ...(target_url ? { targetUrl: target_url } : {}),
      updatedAt: utc(updated_at),
    }));
}

/** `warning` and newer ones are never set by Gatehouse; one set under its name by others does not mean success. */
function toStatusState(state: string): StatusState {
  return state === 'pending' || state === 'success' || state === 'failure' ? state : 'error';
}

/** The methods of a forge that are here. */
export const METHODS = {
  pullRequest,
  openPullRequests,
  repository: repositoryNow,
  teamMembers,
  branchCommit,
  tagCommit,
  status,
  statuses,
};
