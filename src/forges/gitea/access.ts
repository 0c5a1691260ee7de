import { z } from 'zod';
import { permissionsOf } from '../../facts/purposes.ts';
import { requireFound } from '../answer.ts';
import { ForgeError } from '../port/forge-error.ts';
import type { Grants } from '../port/inspection.ts';
import type { GiteaClient } from './client.ts';
import * as shapes from './shapes.ts';

interface Scope {
  readonly scope: string;
  readonly ask: (client: GiteaClient) => Promise<unknown>;
}

/**
 * The scopes that every review needs (docs/connect-gitea.md), each with a request for it. The forges check the scope
 * first, by method and path. Nothing is written: no account can be named `-`, so with the scope the answer is 404.
 */
const NEEDED: readonly Scope[] = [
  {
    scope: 'read:user',
    ask: async (client) => requireFound(await client.ask('/user', shapes.user), 'GET /user'),
  },
  { scope: 'write:repository', ask: (client) => client.write('POST', '/repos/-/-/statuses/0', {}, true) },
  { scope: 'write:issue', ask: (client) => client.write('POST', '/repos/-/-/issues/1/comments', {}, true) },
];

/** Gitea and Forgejo: "token does not have at least one of required scope(s)". */
const NAMES_A_SCOPE = /required scope/;

/** Those that only some facts need. */
const OF_FACTS: readonly Scope[] = [
  { scope: 'read:organization', ask: (client) => client.ask('/orgs/-/hooks', z.unknown()) },
];

/** The names of the scopes that the token does not have. */
export function missingScopes(client: GiteaClient): Promise<readonly string[]> {
  return missingOf(client, NEEDED);
}

export async function grants(client: GiteaClient, extras: readonly string[]): Promise<Grants> {
  const keys = permissionsOf('gitea').flatMap(({ key, for: purpose }) => (extras.includes(purpose) ? [key] : []));
  const needed = OF_FACTS.filter(({ scope }) => keys.includes(scope));
  return { missing: await missingOf(client, [...NEEDED, ...needed]) };
}

async function missingOf(client: GiteaClient, needed: readonly Scope[]): Promise<readonly string[]> {
  const missing: string[] = [];
  for (const { scope, ask } of needed) {
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
