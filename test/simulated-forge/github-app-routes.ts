import type { SimulatedApp } from './github-dialect.ts';
import { cursorPage, page } from './github-pages.ts';
import { NOT_FOUND, webOf } from './github-read-routes.ts';
import { repository, user } from './github-shapes.ts';
import type { Answer, Call, Routes } from './routes.ts';
import { type Delivery, newId, type World } from './world.ts';

const TOKEN_LIFE_MS = 3_600_000;

/** What only an App may ask, and what GitHub remembers of the webhooks it sent. */
export function githubAppRoutes(world: World, app: SimulatedApp | undefined): Routes {
  const asApp = (answer: (call: Call, known: SimulatedApp) => Answer) => (call: Call) =>
    app !== undefined && call.login === `app:${app.slug}`
      ? answer(call, app)
      : { status: 401, body: { message: 'A JSON web token could not be decoded' } };
  const installation = (owner: string | undefined, known: SimulatedApp): Answer => {
    const id = known.installations.get(owner ?? '');
    const body = { id, app_id: Number(known.id), app_slug: known.slug, permissions: known.permissions };
    return id === undefined ? NOT_FOUND : { status: 200, body };
  };
  const repos = '/repos/:owner/:repo';

  return {
    'GET /app': asApp((call, known) => ({
      status: 200,
      body: {
        id: Number(known.id),
        slug: known.slug,
        html_url: `${webOf(call)}/github-apps/${known.slug}`,
        permissions: known.permissions,
        events: known.events,
      },
    })),
    'GET /app/hook/config': asApp((_, known) => ({ status: 200, body: shownHook(known) })),
    [`GET ${repos}/installation`]: asApp((call, known) => installation(call.parameters['owner'], known)),
    'GET /app/installations': asApp((call, known) =>
      page(
        call,
        [...known.installations].map(([login, id]) => ({
          id,
          app_id: Number(known.id),
          app_slug: known.slug,
          account: user(login),
          permissions: known.permissions,
          suspended_at: null,
        })),
      ),
    ),
    'GET /installation/repositories': (call) => {
      const owner = world.installationTokens.get(call.headers['authorization']?.split(' ')[1] ?? '');
      const found = [...world.repositories.values()].filter(
        ({ fullName, deleted }) => !deleted && fullName.split('/')[0] === owner,
      );
      return owner === undefined
        ? { status: 403, body: { message: 'You must authenticate with an installation access token' } }
        : page(
            call,
            found.map((one) => repository(one, webOf(call))),
            (repositories) => ({ total_count: found.length, repositories }),
          );
    },
    'GET /orgs/:org/installation': asApp((call, known) => installation(call.parameters['org'], known)),

    'POST /app/installations/:id/access_tokens': asApp((call, known) => {
      const installed = [...known.installations].find(([, id]) => id === Number(call.parameters['id']));
      if (installed === undefined) {
        return NOT_FOUND;
      }
      const token = `ghs_installation${newId(world)}`;
      world.tokens.set(token, `${known.slug}[bot]`);
      world.installationTokens.set(token, installed[0]);
      return {
        status: 201,
        body: {
          token,
          expires_at: new Date(Date.now() + TOKEN_LIFE_MS).toISOString(),
          permissions: known.permissions,
        },
      };
    }),

    'GET /orgs/:org/memberships/:username': (call) => membership(world, app, call),

    'GET /app/hook/deliveries': asApp((call) => list(world, call)),
    'POST /app/hook/deliveries/:id/attempts': asApp((call) => redeliver(world, call)),
  };
}

/** Shown to members, and to an App that may read them. The same 404 is for strangers and for what may not be seen. */
function membership(world: World, app: SimulatedApp | undefined, { parameters, headers, login }: Call): Answer {
  const { org = '', username = '' } = parameters;
  const members = world.members.get(org) ?? [];
  const find = (name: string) => members.find((member) => member.login.toLowerCase() === name.toLowerCase());
  const token = headers['authorization']?.split(' ')[1] ?? '';
  const isApp = world.installationTokens.has(token);
  const refused = isApp ? app?.permissions['members'] === undefined : find(login) === undefined;
  if (refused || world.scopes.get(token)?.some((scope) => /:org$/.test(scope)) === false) {
    const message = isApp ? 'Resource not accessible by integration' : `You must be a member of ${org}`;
    return { status: 403, body: { message } };
  }
  const member = find(username);
  return member === undefined
    ? NOT_FOUND
    : {
        status: 200,
        body: { state: member.as === 'invited' ? 'pending' : 'active', role: 'member', user: user(member.login) },
      };
}

/** Of the secret only whether there is one. */
function shownHook({ hook }: SimulatedApp): object {
  const { secret, ...shown } = hook;
  return { ...shown, ...(secret !== null && { secret: '********' }), insecure_ssl: '0' };
}

/** Newest first. */
function list({ deliveries }: World, call: Call): Answer {
  const seen = new Set<string>();
  const listed = deliveries.map((delivery) => {
    const isRepeat = seen.has(delivery.guid);
    seen.add(delivery.guid);
    return { ...delivery, isRepeat };
  });
  return cursorPage(
    call,
    listed.toReversed().map(({ id, guid, event, statusCode, deliveredAt, isRepeat }) => ({
      id,
      guid,
      delivered_at: deliveredAt,
      redelivery: isRepeat,
      duration: 0.2,
      status: statusCode < 300 ? 'OK' : 'Invalid HTTP Response',
      status_code: statusCode,
      event,
      action: null,
    })),
  );
}

/** The same delivery once more, now with success. */
function redeliver(world: World, call: Call): Answer {
  const known = world.deliveries.find(({ id }) => id === Number(call.parameters['id']));
  if (known === undefined) {
    return NOT_FOUND;
  }
  const again: Delivery = { ...known, id: newId(world), statusCode: 200, deliveredAt: new Date().toISOString() };
  world.deliveries.push(again);
  return { status: 202, body: {} };
}
