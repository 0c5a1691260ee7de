import { LRUCache } from 'lru-cache';
import { requireFound } from '../answer.ts';
import type { PullRequestRef } from '../port/pull-request.ts';
import type { GitHubClient } from './client.ts';
import { address } from './read.ts';
import { ask } from './request.ts';
import * as shapes from './shapes.ts';

/** Far more than the Apps that open pull requests anywhere. */
const MAX_REMEMBERED = 1_000;

/** The login that REST and webhooks have of the App that opened a pull request; `slug` is the one that GraphQL has. */
export type AppLoginOf = (ref: PullRequestRef, slug: string) => Promise<string>;

/**
 * It is usually the slug followed by `[bot]`, but not for Copilot. Policies name Apps by it, so that it is
 * read by REST, once for each App.
 */
export function rememberAppLogins(client: GitHubClient): AppLoginOf {
  const logins = new LRUCache<string, string>({ max: MAX_REMEMBERED });

  return async (ref, slug) => {
    const cached = logins.get(slug);
    if (cached !== undefined) {
      return cached;
    }
    const route = 'GET /repos/{owner}/{repo}/pulls/{pull_number}';
    const answer = await ask(await client.forRepository(ref.repository), route, address(ref), shapes.pull);
    const { user } = requireFound(answer, route);
    logins.set(slug, user);
    return user;
  };
}
