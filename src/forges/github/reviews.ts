import type { Octokit } from 'octokit';
import { requireFound } from '../answer.ts';
import type { PersonReview, PullRequestRef, RequestedReviews } from '../port/pull-request.ts';
import type { GitHubClient } from './client.ts';
import { address, repositoryAddress } from './read.ts';
import { ask, askAll } from './request.ts';
import * as shapes from './shapes.ts';

export const REVIEW_STATES = {
  APPROVED: 'approved',
  CHANGES_REQUESTED: 'changes-requested',
  COMMENTED: 'commented',
  DISMISSED: 'dismissed',
} as const;

/** Reviewers whose permission is read, one request each. No real pull request has more. */
const MAX_REVIEWERS = 100;

/** Reviews, oldest first. */
export async function reviews(
  client: GitHubClient,
  ref: PullRequestRef,
  { requestsForChanges } = { requestsForChanges: false },
): Promise<readonly PersonReview[]> {
  const octokit = await client.forRepository(ref.repository);
  const route = 'GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews';
  const answer = requireFound(await askAll(octokit, route, address(ref), shapes.reviews), route);
  const decide = ({ state }: { readonly state: string }) =>
    state === 'APPROVED' || (requestsForChanges && state === 'CHANGES_REQUESTED');
  const reviewers = new Set(answer.filter(decide).map(({ user }) => user.login));
  const writers = await writersAmong(octokit, ref.repository, [...reviewers].slice(0, MAX_REVIEWERS));
  return answer.flatMap(({ user, state, commit_id, submitted_at }) =>
    state === 'PENDING' || submitted_at === undefined
      ? []
      : [
          {
            author: user.login,
            state: REVIEW_STATES[state],
            sha: commit_id ?? '',
            submittedAt: submitted_at,
            official: writers.has(user.login),
            bot: user.type === 'Bot',
          },
        ],
  );
}

async function writersAmong(
  octokit: Octokit | undefined,
  repository: string,
  logins: readonly string[],
): Promise<ReadonlySet<string>> {
  const answers = await Promise.all(
    logins.map(async (login) => ((await isWriter(octokit, repository, login)) ? [login] : [])),
  );
  return new Set(answers.flat());
}

/**
 * Whether somebody may write to the repository. The `author_association` of a review or comment does not say: a member
 * of the organisation may only read, and a private member looks like a stranger.
 * https://docs.github.com/en/rest/collaborators/collaborators#get-repository-permissions-for-a-user
 */
async function isWriter(octokit: Octokit | undefined, repository: string, username: string): Promise<boolean> {
  const route = 'GET /repos/{owner}/{repo}/collaborators/{username}/permission';
  const answer = await ask(octokit, route, { ...repositoryAddress(repository), username }, shapes.permission);
  return answer?.permission === 'write' || answer?.permission === 'admin';
}

export async function mayWrite(client: GitHubClient, repository: string, login: string): Promise<boolean> {
  return isWriter(await client.forRepository(repository), repository, login);
}

/** https://docs.github.com/en/rest/pulls/review-requests */
export async function requestedReviews(client: GitHubClient, ref: PullRequestRef): Promise<RequestedReviews> {
  const octokit = await client.forRepository(ref.repository);
  const route = 'GET /repos/{owner}/{repo}/pulls/{pull_number}/requested_reviewers';
  const { users, teams } = requireFound(await ask(octokit, route, address(ref), shapes.requestedReviewers), route);
  const { owner } = address(ref);
  return {
    people: users.map(({ login }) => login),
    teams: teams.map(({ slug }) => `${owner}/${slug}`.toLowerCase()),
  };
}
