import { randomBytes } from 'node:crypto';
import type { SimulatedApp } from './github-app-routes.ts';
import { page } from './github-pages.ts';
import { withRepository } from './github-read-routes.ts';
import { type Answer, type Call, type Handler, listIn, type Routes, textIn } from './routes.ts';
import { isAdministrator, newId, type Repository, type World } from './world.ts';

const FORBIDDEN: Answer = { status: 403, body: { message: 'Resource not accessible by personal access token' } };

export function githubSettingsRoutes(world: World): Routes {
  const repos = '/repos/:owner/:repo';
  const ofRepository = (answer: (repository: Repository, call: Call) => Answer): Handler =>
    withRepository(world, (repository, call) =>
      isAdministrator(world, repository.fullName, call.login) ? answer(repository, call) : FORBIDDEN,
    );
  return {
    [`GET ${repos}/rules/branches/:branch`]: withRepository(world, ({ rulesets }, call) =>
      page(
        call,
        rulesets
          .filter(({ branch }) => branch === call.parameters['branch'])
          .map(({ id, checks }) => ({
            type: 'required_status_checks',
            ruleset_id: id,
            parameters: { strict_required_status_checks_policy: false, required_status_checks: checks },
          })),
      ),
    ),

    [`POST ${repos}/rulesets`]: ofRepository(({ rulesets }, { body }) => {
      const made = {
        id: newId(world),
        name: textIn(body, 'name'),
        branch: JSON.stringify(body['conditions']).match(/refs\/heads\/([^"]+)/)?.[1] ?? '',
        checks: listIn(body, 'rules').flatMap(({ parameters }) =>
          listIn(parameters as Call['body'], 'required_status_checks').map(({ context, integration_id: app }) => ({
            context: String(context),
            ...(typeof app === 'number' ? { integration_id: app } : {}),
          })),
        ),
      };
      rulesets.push(made);
      return { status: 201, body: { id: made.id, name: made.name, enforcement: 'active' } };
    }),
  };
}

/**
 * The types of a manifest's parameters
 * (https://docs.github.com/en/apps/sharing-github-apps/registering-a-github-app-from-a-manifest).
 */
const MANIFEST: Readonly<Record<string, string>> = {
  name: 'string',
  url: 'string',
  hook_attributes: 'object',
  redirect_url: 'string',
  callback_urls: 'object',
  setup_url: 'string',
  description: 'string',
  public: 'boolean',
  default_events: 'object',
  default_permissions: 'object',
  request_oauth_on_install: 'boolean',
  setup_on_update: 'boolean',
};

/**
 * The registration of an App from a manifest, by somebody who is signed in and presses "Create GitHub App" at once. The App is
 * always the same one; what the manifest says of it is taken. A code works once.
 */
export function manifestFlow(app: SimulatedApp): (call: Call) => Answer | undefined {
  const manifests = new Map<string, Readonly<Record<string, unknown>>>();
  return (call) => {
    if (call.method === 'POST' && /^(?:\/organizations\/[^/]+)?\/settings\/apps\/new$/.test(call.path)) {
      const manifest = JSON.parse(textIn(call.body, 'manifest'));
      const unknown = Object.keys(manifest).filter((name) => typeof manifest[name] !== MANIFEST[name]);
      if (unknown.length > 0) {
        return { status: 422, text: `Invalid GitHub App configuration: ${unknown}` };
      }
      const code = randomBytes(20).toString('hex');
      manifests.set(code, manifest);
      const back = new URL(manifest.redirect_url);
      back.searchParams.set('code', code);
      back.searchParams.set('state', call.query.get('state') ?? '');
      return { status: 302, text: '', headers: { location: back.href } };
    }
    const [, code] = /^\/api\/v3\/app-manifests\/([^/]+)\/conversions$/.exec(call.path) ?? [];
    if (call.method !== 'POST' || code === undefined) {
      return undefined;
    }
    const manifest = manifests.get(code);
    manifests.delete(code);
    return manifest === undefined ? { status: 404, body: { message: 'Not Found' } } : register(app, manifest, call);
  };
}

function register(app: SimulatedApp, manifest: Readonly<Record<string, unknown>>, call: Call): Answer {
  const hook = manifest['hook_attributes'] as { readonly url: string };
  app.permissions = manifest['default_permissions'] as Readonly<Record<string, string>>;
  app.events = manifest['default_events'] as readonly string[];
  app.hook = { url: hook.url, content_type: 'json', secret: randomBytes(20).toString('hex') };
  return {
    status: 201,
    body: {
      id: Number(app.id),
      slug: app.slug,
      html_url: `${call.apiUrl.replace(/\/api\/v3$/, '')}/github-apps/${app.slug}`,
      owner: { login: 'acme' },
      permissions: app.permissions,
      events: app.events,
      client_id: 'Iv1.0123456789abcdef',
      client_secret: randomBytes(20).toString('hex'),
      webhook_secret: app.hook.secret,
      pem: app.privateKey,
    },
  };
}
