import { z } from 'zod';
import { parseAnswer, requireFound } from '../answer.ts';
import { ForgeError } from '../forge-error.ts';
import { APP_PERMISSIONS, includesAccess, permissionName } from './app-permissions.ts';
import type { GitHubClient } from './client.ts';
import { send } from './request.ts';

/** Either is enough of a classic token; the second for public repositories only. */
const CLASSIC_SCOPES = ['repo', 'public_repo'];

/** A cached answer would repeat the permissions of when it was fetched. */
const UNCACHED = { headers: { 'cache-control': 'no-store' } };

/** The names of the permissions or scopes that the credentials do not have, as far as GitHub says it. */
export function missingScopes(client: GitHubClient): Promise<readonly string[]> {
  return client.kind === 'app' ? missingOfApp(client) : missingOfToken(client);
}

async function missingOfApp({ own }: GitHubClient): Promise<readonly string[]> {
  const route = 'GET /app';
  const answer = await send(own, route, UNCACHED);
  if (answer === undefined) {
    throw new ForgeError('refused', `${route}: the forge knows no App with this id`, { status: 404 });
  }
  const { permissions } = parseAnswer(z.object({ permissions: z.record(z.string(), z.string()) }), answer.data, route);
  const needed = APP_PERMISSIONS.filter((permission) => permission.for === 'every-review');
  return needed.filter(({ key, access }) => !includesAccess(permissions[key], access)).map(permissionName);
}

/** Only classic tokens have scopes. For others the header is absent or empty. */
async function missingOfToken({ own }: GitHubClient): Promise<readonly string[]> {
  const route = 'GET /user';
  const answer = requireFound(await send(own, route, UNCACHED), route);
  parseAnswer(z.object({ login: z.string() }), answer.data, route);
  const scopes = (answer.headers['x-oauth-scopes'] ?? '').split(',').map((scope) => scope.trim());
  const unknown = scopes.every((scope) => scope === '');
  return unknown || CLASSIC_SCOPES.some((scope) => scopes.includes(scope)) ? [] : ['repo'];
}
