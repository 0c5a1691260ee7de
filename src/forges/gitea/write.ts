import { acceptedWrite, parseAnswer, requireFound } from '../answer.ts';
import type { CommitStatus, PostedComment } from '../port/postings.ts';
import type { PullRequestRef } from '../port/pull-request.ts';
import { type GiteaAccount, type GiteaClient, OWN_COMMENT, path } from './client.ts';
import { repositoryPath } from './read.ts';
import * as shapes from './shapes.ts';

export async function setStatus(client: GiteaClient, repository: string, sha: string, status: CommitStatus) {
  const route = `${repositoryPath(repository)}${path('statuses', sha)}`;
  const answer = await client.write('POST', route, {
    context: status.context,
    state: status.state,
    description: status.description,
    target_url: status.targetUrl ?? '',
  });
  parseAnswer(acceptedWrite, answer, `POST ${route}`);
}

export async function ownComments(client: GiteaAccount, ref: PullRequestRef): Promise<readonly PostedComment[]> {
  const self = await client.self();
  const route = `${repositoryPath(ref.repository)}/issues/${ref.number}/comments`;
  // All at once, oldest first: this list takes no page.
  const answer = requireFound(await client.ask(route, shapes.comments, { maxStringBytes: OWN_COMMENT }), route);
  return answer.filter((comment) => comment.user === self).map(({ id, body }) => ({ id, body }));
}

export async function ownComment(
  client: GiteaAccount,
  ref: PullRequestRef,
  id: string,
): Promise<PostedComment | undefined> {
  const self = await client.self();
  const route = `${repositoryPath(ref.repository)}/issues${path('comments', id)}`;
  const found = await client.ask(route, shapes.comment, { maxStringBytes: OWN_COMMENT });
  return found?.user === self ? { id: found.id, body: found.body } : undefined;
}

export async function createComment(client: GiteaClient, ref: PullRequestRef, body: string): Promise<PostedComment> {
  const route = `${repositoryPath(ref.repository)}/issues/${ref.number}/comments`;
  const posted = parseAnswer(shapes.comment, await client.write('POST', route, { body }), `POST ${route}`);
  return { id: posted.id, body: posted.body };
}

export async function updateComment(client: GiteaClient, ref: PullRequestRef, id: string, body: string) {
  const route = `${repositoryPath(ref.repository)}/issues${path('comments', id)}`;
  parseAnswer(acceptedWrite, await client.write('PATCH', route, { body }), `PATCH ${route}`);
}

export async function deleteComment(client: GiteaClient, ref: PullRequestRef, id: string) {
  await client.write('DELETE', `${repositoryPath(ref.repository)}/issues${path('comments', id)}`, undefined, true);
}
