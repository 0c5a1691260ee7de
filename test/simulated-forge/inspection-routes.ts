import { withRepository as onGitea, page as pageOfGitea } from './gitea-read-routes.ts';
import { page } from './github-pages.ts';
import { NOT_FOUND, withRepository as onGitHub } from './github-read-routes.ts';
import type { Routes } from './routes.ts';
import { type Hook, isAdministrator, type World } from './world.ts';

/** How a repository is set up, as GitHub shows it: to those who may not see its webhooks it says that there are none. */
export function githubInspectionRoutes(world: World): Routes {
  const repos = '/repos/:owner/:repo';
  return {
    [`GET ${repos}/hooks`]: onGitHub(world, (repository, call) =>
      isAdministrator(world, repository.fullName, call.login) ? page(call, repository.hooks.map(shown)) : NOT_FOUND,
    ),

    'GET /orgs/:org/hooks': (call) => {
      const organisation = call.parameters['org'] ?? '';
      const hooks = world.organisationHooks.get(organisation);
      return hooks !== undefined && isAdministrator(world, organisation, call.login)
        ? page(call, hooks.map(shown))
        : NOT_FOUND;
    },

    // This much of its protection is shown to everybody who can read the repository.
    [`GET ${repos}/branches/:branch`]: onGitHub(world, ({ branches, protections }, { parameters }) => {
      const name = parameters['branch'] ?? '';
      const sha = branches.get(name);
      const protection = protections.get(name);
      if (sha === undefined) {
        return NOT_FOUND;
      }
      const contexts = protection?.checks === true ? protection.statuses : [];
      const checks = contexts.map((context) => ({ context, app_id: protection?.appId ?? null }));
      const enforcement_level = contexts.length > 0 ? 'non_admins' : 'off';
      const required_status_checks = { enforcement_level, contexts, checks };
      const body = { name, commit: { sha }, protected: protection !== undefined };
      return { status: 200, body: { ...body, protection: { enabled: body.protected, required_status_checks } } };
    }),
  };
}

function shown({ id, url, secret, contentType, events, active }: Hook): object {
  return {
    id,
    name: 'web',
    active,
    events,
    config: { url, content_type: contentType, insecure_ssl: '0', ...(secret !== '' && { secret: '********' }) },
  };
}

/** Webhooks that are neither a repository's nor an organisation's. There are none. */
export function giteaInspectionRoutes(world: World): Routes {
  return {
    'GET /admin/hooks': (call) =>
      world.administrators.has(call.login)
        ? pageOfGitea(call, [])
        : { status: 403, body: { message: 'user should be the site admin' } },
    'GET /user/hooks': (call) => pageOfGitea(call, []),

    'GET /repos/:owner/:repo/branches/*branch': onGitea(world, ({ branches, protections }, { parameters }) => {
      const name = parameters['branch'] ?? '';
      const sha = branches.get(name);
      const protection = protections.get(name);
      return sha === undefined
        ? { status: 404, body: { message: 'The target couldn’t be found.' } }
        : {
            status: 200,
            body: {
              name,
              commit: { id: sha },
              protected: protection !== undefined,
              enable_status_check: protection?.checks === true,
              status_check_contexts: protection?.statuses ?? [],
            },
          };
    }),
  };
}
