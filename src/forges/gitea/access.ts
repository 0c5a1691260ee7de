import { requireFound } from '../answer.ts';
import { ForgeError } from '../forge-error.ts';
import type { GiteaClient } from './client.ts';
import * as shapes from './shapes.ts';

/**
 * The scopes that every review needs (docs/forges.md), each with a request that needs it. The forges check the scope
 * first, by method and path. Nothing is written: no account can be named `-`, so with the scope the answer is 404.
 */
const NEEDED: readonly { readonly scope: string; readonly ask: (client: GiteaClient) => Promise<unknown> }[] = [
  {
    scope: 'read:user',
    ask: async (client) => requireFound(await client.ask('/user', shapes.user), 'GET /user'),
  },
  { scope: 'write:repository', ask: (client) => client.write('POST', '/repos/-/-/statuses/0', {}, true) },
  { scope: 'write:issue', ask: (client) => client.write('POST', '/repos/-/-/issues/1/comments', {}, true) },
];

/** Gitea and Forgejo: "token does not have at least one of required scope(s)". */
const NAMES_A_SCOPE = /required scope/;

/** The names of the scopes that the token does not have. */
export async function missingScopes(client: GiteaClient): Promise<readonly string[]> {
  const missing: string[] = [];
  for (const { scope, ask } of NEEDED) {
    try {
      await ask(client);
    } catch (error) {
      if (!(error instanceof ForgeError && error.status === 403 && NAMES_A_SCOPE.test(error.message))) {
        throw error;
      }
      missing.push(scope);
    }
  }
  return missing;
}
