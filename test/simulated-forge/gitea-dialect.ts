import type { Dialect } from './dialect.ts';
import { giteaReadRoutes } from './gitea-read-routes.ts';
import { giteaWriteRoutes } from './gitea-write-routes.ts';
import { giteaHistoryRoutes } from './history-routes.ts';
import { findRepository, type World } from './world.ts';

/** Gitea and Forgejo: one API but for the deletion of single review comments, which is Forgejo's alone. */
export function makeGiteaDialect(
  world: World,
  name: 'gitea' | 'forgejo',
  url: string,
  keepsInlineComments: boolean,
): Dialect {
  const swagger = `${url}/api/swagger`;
  const notFound = { status: 404, body: { errors: null, message: "The target couldn't be found.", url: swagger } };
  return {
    name,
    prefix: '/api/v1',
    routes: {
      ...giteaReadRoutes(world),
      ...giteaHistoryRoutes(world, notFound),
      ...giteaWriteRoutes(world, name, keepsInlineComments),
    },
    notFound,
    unauthorized: { status: 401, body: { message: 'invalid username, password or token', url: swagger } },

    login(headers) {
      const [scheme = '', credential = ''] = (headers.authorization ?? '').split(' ');
      return /^(?:token|bearer)$/i.test(scheme) ? world.tokens.get(credential) : undefined;
    },

    locate(_method, path) {
      const [, fullName = '', rest = ''] = /^\/repos\/([^/]+\/[^/]+)(.*)$/.exec(path) ?? [];
      const renamed = findRepository(world, fullName) ? undefined : world.renames.get(fullName.toLowerCase());
      return renamed === undefined
        ? { path }
        : { redirect: { status: 307, text: '', headers: { location: `/api/v1/repos/${renamed.fullName}${rest}` } } };
    },

    limit: () => undefined,

    // The API sets no validators, so nothing can be asked for conditionally.
    finish: (_call, answer) => ({
      ...answer,
      headers: { 'cache-control': 'max-age=0, private, must-revalidate, no-transform', ...answer.headers },
    }),
  };
}
