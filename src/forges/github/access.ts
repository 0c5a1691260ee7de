import { z } from 'zod';
import { parseAnswer, requireFound } from '../answer.ts';
import { ForgeError } from '../forge-error.ts';
import type { GitHubClient } from './client.ts';
import { send } from './request.ts';

const LEVELS: readonly (string | undefined)[] = ['read', 'write', 'admin'];

/** The permissions that every review needs, by their names in the API and in docs/forges.md. */
const PERMISSIONS = [
  { key: 'contents', level: 'read', name: 'Contents: read' },
  { key: 'pull_requests', level: 'write', name: 'Pull requests: read and write' },
  { key: 'statuses', level: 'write', name: 'Commit statuses: read and write' },
] as const;

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
  return PERMISSIONS.filter(({ key, level }) => LEVELS.indexOf(permissions[key]) < LEVELS.indexOf(level)).map(
    ({ name }) => name,
  );
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
