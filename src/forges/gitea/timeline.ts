import { latestTime, requireFound } from '../answer.ts';
import { ForgeError } from '../forge-error.ts';
import type { PullRequestRef } from '../pull-request.ts';
import type { GiteaClient } from './client.ts';
import { repositoryPath } from './read.ts';
import * as shapes from './shapes.ts';

const MAX_PAGES = 200;
/**
 * Nothing says where the list ends: entries that are left out of a page (comments at lines, references from private
 * repositories) make it shorter or empty, and its total counts only itself. So many empty pages in a row are its end.
 */
const EMPTY_PAGES_AT_END = 5;
/** In the body of an entry `pull_push`, which nobody can write or edit. */
const FORCE_PUSH = /"is_force_push":\s*true/;

export async function lastForcePushOrRetarget(client: GiteaClient, ref: PullRequestRef): Promise<string | undefined> {
  const resource = `${repositoryPath(ref.repository)}/issues/${ref.number}/timeline`;
  const route = `GET ${resource}`;
  const times: string[] = [];
  let empty = 0;
  for (let number = 1; empty < EMPTY_PAGES_AT_END; number += 1) {
    if (number > MAX_PAGES) {
      throw new ForgeError('invalid', `${route}: the list has more than ${MAX_PAGES} pages`);
    }
    const { items } = requireFound(await client.askPage(resource, shapes.timeline, number), route);
    empty = items.length === 0 ? empty + 1 : 0;
    for (const entry of items) {
      if (entry === null) {
        // What these forges answer for an entry that they could not read themselves.
        throw new ForgeError('invalid', `${route}: the forge left out an entry of the timeline`);
      }
      if (entry.type === 'change_target_branch' || (entry.type === 'pull_push' && FORCE_PUSH.test(entry.body))) {
        times.push(entry.created_at);
      }
    }
  }
  return latestTime(times, route);
}
