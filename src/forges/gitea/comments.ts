import { requireFound } from '../answer.ts';
import { MAX_COMMAND_JSON_BYTES } from '../port/command.ts';
import type { PersonComment, PullRequestRef } from '../port/pull-request.ts';
import type { GiteaClient } from './client.ts';
import { repositoryPath, utc } from './read.ts';
import * as shapes from './shapes.ts';

/**
 * Those too long to be a command without their text: nothing else is read of comments. All at once, oldest first: this
 * list takes no page. An edit shows in `updated_at`, which is in seconds: one in the second of the posting does not
 * show. The history of edits is not in the API.
 */
export async function comments(client: GiteaClient, ref: PullRequestRef): Promise<readonly PersonComment[]> {
  const route = `${repositoryPath(ref.repository)}/issues/${ref.number}/comments`;
  const answer = requireFound(
    await client.ask(route, shapes.personComments, { maxStringBytes: MAX_COMMAND_JSON_BYTES }),
    `GET ${route}`,
  );
  return answer.map(({ id, user, original_author, body, created_at, updated_at }) => ({
    id,
    author: user === null || user.login === shapes.GONE || original_author !== '' ? null : user.login,
    bot: user !== null && user.id < 0,
    byEmail: false,
    body,
    createdAt: utc(created_at),
    edited: utc(created_at) === utc(updated_at) ? 'no-by-seconds' : 'yes',
  }));
}
