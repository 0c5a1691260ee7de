import { z } from 'zod';
import { parseAnswer, requireFound } from '../answer.ts';
import { ForgeError } from '../port/forge-error.ts';
import type { Grants } from '../port/inspection.ts';
import { APP_PERMISSIONS, includesAccess, permissionName } from './app-permissions.ts';
import type { GitHubClient } from './client.ts';
import { repositoryAddress } from './read.ts';
import { ask, send } from './request.ts';

const permissions = z.object({ permissions: z.record(z.string(), z.string()) });

/** Either is enough of a classic token; the second for public repositories only. */
const CLASSIC_SCOPES = ['repo', 'public_repo'];
/** Any of them lets a classic token see teams. */
const CLASSIC_TEAM_SCOPES = ['read:org', 'write:org', 'admin:org'];

/** The names of the permissions or scopes that the credentials do not have, as far as GitHub says it. */
export function missingScopes(client: GitHubClient): Promise<readonly string[]> {
  return client.kind === 'app' ? missingOfApp(client) : missingOfToken(client);
}

async function missingOfApp({ own }: GitHubClient): Promise<readonly string[]> {
  const route = 'GET /app';
  const answer = await send(own, route, {});
  if (answer === undefined) {
    throw new ForgeError('refused', `${route}: the forge knows no App with this id`, { status: 404 });
  }
  return lacking(parseAnswer(permissions, answer.data, route), []);
}

function lacking({ permissions: granted }: z.output<typeof permissions>, extras: readonly string[]): readonly string[] {
  const purposes: readonly string[] = ['every-review', ...extras];
  const needed = APP_PERMISSIONS.filter((permission) => purposes.includes(permission.for));
  return needed.filter(({ key, access }) => !includesAccess(granted[key], access)).map(permissionName);
}

async function missingOfToken(client: GitHubClient): Promise<readonly string[]> {
  return missingClassicScopes(await classicScopes(client), []);
}

/** Undefined of other tokens, which have permissions instead: for them the header is absent or empty. */
async function classicScopes({ own }: GitHubClient): Promise<readonly string[] | undefined> {
  const route = 'GET /user';
  const answer = requireFound(await send(own, route, {}), route);
  parseAnswer(z.object({ login: z.string() }), answer.data, route);
  const scopes = (answer.headers['x-oauth-scopes'] ?? '').split(',').map((scope) => scope.trim());
  return scopes.every((scope) => scope === '') ? undefined : scopes;
}

function missingClassicScopes(scopes: readonly string[] | undefined, extras: readonly string[]): readonly string[] {
  const has = (any: readonly string[]) => scopes === undefined || any.some((scope) => scopes.includes(scope));
  return [
    ...(has(CLASSIC_SCOPES) ? [] : ['repo']),
    ...(extras.includes('teams') && !has(CLASSIC_TEAM_SCOPES) ? ['read:org'] : []),
  ];
}

/** For an App: what the owner of the repository has accepted, which can be less than what the App asks for. */
export async function grants(
  client: GitHubClient,
  repository: string | undefined,
  extras: readonly string[],
): Promise<Grants> {
  if (client.kind === 'token') {
    const scopes = await classicScopes(client);
    const unknown = 'GitHub does not show the permissions of a fine-grained token';
    return { missing: missingClassicScopes(scopes, extras), ...(scopes === undefined && { unknown }) };
  }
  if (repository === undefined) {
    return { missing: await missingOfApp(client) };
  }
  const route = 'GET /repos/{owner}/{repo}/installation';
  const installation = await ask(client.own, route, repositoryAddress(repository), permissions);
  return { missing: lacking(requireFound(installation, route), extras) };
}
