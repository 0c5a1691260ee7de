import type { Dialect } from './dialect.ts';
import { giteaPeopleRoutes } from './gitea-people-routes.ts';
import { giteaReadRoutes } from './gitea-read-routes.ts';
import { giteaSettingsRoutes } from './gitea-settings-routes.ts';
import { giteaWriteRoutes, type Notify } from './gitea-write-routes.ts';
import { giteaHistoryRoutes } from './history-routes.ts';
import { giteaInspectionRoutes } from './inspection-routes.ts';
import type { Answer, Call } from './routes.ts';
import { findRepository, isArchived, type World } from './world.ts';

/** Gitea 1.26 and Forgejo 7: nearly one API. The deletion of single review comments is Forgejo's alone. */
export function makeGiteaDialect(
  world: World,
  name: 'gitea' | 'forgejo',
  url: string,
  keepsInlineComments: boolean,
  notify: Notify,
): Dialect {
  const swagger = `${url}/api/swagger`;
  const notFound = { status: 404, body: { errors: null, message: "The target couldn't be found.", url: swagger } };
  return {
    name,
    prefix: '/api/v1',
    routes: {
      ...giteaReadRoutes(world, name),
      ...giteaPeopleRoutes(world, name),
      ...giteaHistoryRoutes(world, notFound),
      ...giteaWriteRoutes(world, name, keepsInlineComments, notify),
      ...giteaSettingsRoutes(world, name),
      ...giteaInspectionRoutes(world),
    },
    notFound,
    unauthorized: { status: 401, body: { message: 'invalid username, password or token', url: swagger } },

    login(headers) {
      const [scheme = '', credential = ''] = (headers.authorization ?? '').split(' ');
      return /^(?:token|bearer)$/i.test(scheme) ? world.tokens.get(credential) : undefined;
    },

    locate(_method, path, search) {
      const [, fullName = '', rest = ''] = /^\/repos\/([^/]+\/[^/]+)(.*)$/.exec(path) ?? [];
      const renamed = findRepository(world, fullName) ? undefined : world.renames.get(fullName.toLowerCase());
      // Gitea answers 301 to writes as well.
      const status = name === 'gitea' ? 301 : 307;
      return renamed === undefined
        ? { path }
        : {
            redirect: { status, text: '', headers: { location: `/api/v1/repos/${renamed.fullName}${rest}${search}` } },
          };
    },

    refuse: (call) => missingScope(world, name, call) ?? writeToArchived(world, call),

    // The API sets no validators, so nothing can be asked for conditionally.
    finish: (_call, answer) => ({
      ...answer,
      headers: { 'cache-control': 'max-age=0, private, must-revalidate, no-transform', ...answer.headers },
    }),
  };
}

/** Of what Gatehouse writes these forges refuse the comments; a commit status is taken. */
function writeToArchived(world: World, { method, path }: Call): Answer | undefined {
  return method !== 'GET' && path.includes('/issues/') && isArchived(world, path)
    ? { status: 423, body: { message: 'repo is archived' } }
    : undefined;
}

/** Scopes go by the beginning of the path and by the method, and come before everything else. */
function missingScope(world: World, name: 'gitea' | 'forgejo', { headers, method, path }: Call): Answer | undefined {
  const scopes = world.scopes.get((headers['authorization'] ?? '').split(' ')[1] ?? '');
  const category = CATEGORIES.find(([paths]) => paths.test(path))?.[1];
  const level = method === 'GET' ? 'read' : 'write';
  const enough = [`write:${category}`, `${level}:${category}`];
  if (scopes === undefined || category === undefined || enough.some((scope) => scopes.includes(scope))) {
    return undefined;
  }
  const what = 'token does not have at least one of required scope(s)';
  const said =
    name === 'gitea' ? `, required=[${level}:${category}], token scope=${scopes}` : `: [${level}:${category}]`;
  return { status: 403, body: { message: `${what}${said}` } };
}

const CATEGORIES = [
  [/^\/user$/, 'user'],
  [/^\/repos\/(?:[^/]+\/[^/]+\/issues(?:\/|$)|issues\/search$)/, 'issue'],
  [/^\/repos\//, 'repository'],
  [/^\/(?:orgs|teams|users\/[^/]+\/orgs)\//, 'organization'],
  [/^\/admin\//, 'admin'],
] as const;
