import type { z } from 'zod';
import { acceptedWrite, parseAnswer, requireFound } from '../answer.ts';
import type { CommitStatus, InlineComment, OwnInlineComments, PostedComment } from '../port/postings.ts';
import type { PullRequestRef } from '../port/pull-request.ts';
import type { GitHubAccount, GitHubClient } from './client.ts';
import { address, repositoryAddress } from './read.ts';
import { askAll, write } from './request.ts';
import * as shapes from './shapes.ts';

export async function setStatus(client: GitHubClient, repository: string, sha: string, status: CommitStatus) {
  const octokit = await client.forRepository(repository);
  const route = 'POST /repos/{owner}/{repo}/statuses/{sha}';
  const answer = await write(octokit, route, {
    ...repositoryAddress(repository),
    sha,
    context: status.context,
    state: status.state,
    description: status.description,
    target_url: status.targetUrl,
  });
  parseAnswer(acceptedWrite, answer, route);
}

export async function ownComments(client: GitHubAccount, ref: PullRequestRef): Promise<readonly PostedComment[]> {
  const self = await client.self();
  const octokit = await client.forRepository(ref.repository);
  const route = 'GET /repos/{owner}/{repo}/issues/{issue_number}/comments';
  const parameters = { ...repositoryAddress(ref.repository), issue_number: ref.number };
  const own = ownWithText(shapes.comments, self);
  const answer = requireFound(await askAll(octokit, route, parameters, own), route);
  return answer.filter((comment) => comment.user === self).map(({ id, body }) => ({ id, body }));
}

/** The texts of others are dropped with each page: nobody can make a list longer than it may be by what they write. */
function ownWithText<T extends z.output<typeof shapes.comment>>(
  page: z.ZodType<readonly T[]>,
  self: string,
): z.ZodType<readonly T[]> {
  return page.transform((comments) =>
    comments.map((comment) => (comment.user === self ? comment : { ...comment, body: '' })),
  );
}

export async function createComment(client: GitHubClient, ref: PullRequestRef, body: string): Promise<PostedComment> {
  const octokit = await client.forRepository(ref.repository);
  const route = 'POST /repos/{owner}/{repo}/issues/{issue_number}/comments';
  const parameters = { ...repositoryAddress(ref.repository), issue_number: ref.number, body };
  const posted = parseAnswer(shapes.comment, await write(octokit, route, parameters), route);
  return { id: posted.id, body: posted.body };
}

export async function updateComment(client: GitHubClient, ref: PullRequestRef, id: string, body: string) {
  const octokit = await client.forRepository(ref.repository);
  const parameters = { ...repositoryAddress(ref.repository), comment_id: id, body };
  const route = 'PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}';
  parseAnswer(acceptedWrite, await write(octokit, route, parameters), route);
}

export async function deleteComment(client: GitHubClient, ref: PullRequestRef, id: string) {
  const octokit = await client.forRepository(ref.repository);
  const parameters = { ...repositoryAddress(ref.repository), comment_id: id };
  await write(octokit, 'DELETE /repos/{owner}/{repo}/issues/comments/{comment_id}', parameters, true);
}

/** Listed without their reviews. */
export async function ownInlineComments(client: GitHubAccount, ref: PullRequestRef): Promise<OwnInlineComments> {
  const self = await client.self();
  const octokit = await client.forRepository(ref.repository);
  const route = 'GET /repos/{owner}/{repo}/pulls/{pull_number}/comments';
  const page = ownWithText(shapes.inlineComments, self);
  const answer = requireFound(await askAll(octokit, route, address(ref), page), route);
  const own = answer.filter((comment) => comment.user === self);
  return { comments: own.map(({ id, body, path, line }) => ({ id, body, path, line })), reviews: [] };
}

export async function createInlineComments(
  client: GitHubClient,
  ref: PullRequestRef,
  sha: string,
  comments: readonly InlineComment[],
) {
  if (comments.length === 0) {
    return;
  }
  const octokit = await client.forRepository(ref.repository);
  const route = 'POST /repos/{owner}/{repo}/pulls/{pull_number}/reviews';
  const answer = await write(octokit, route, {
    ...address(ref),
    commit_id: sha,
    event: 'COMMENT',
    comments: comments.map(({ path, line, body }) => ({ path, line, side: 'RIGHT', body })),
  });
  parseAnswer(acceptedWrite, answer, route);
}

export async function withdrawInlineComments(client: GitHubClient, ref: PullRequestRef, ids: readonly string[]) {
  const octokit = await client.forRepository(ref.repository);
  for (const id of ids) {
    const parameters = { ...repositoryAddress(ref.repository), comment_id: id };
    await write(octokit, 'DELETE /repos/{owner}/{repo}/pulls/comments/{comment_id}', parameters, true);
  }
}
