import { generateKeyPairSync, randomInt } from 'node:crypto';
import { cursorPage, page } from './github-pages.ts';
import { NOT_FOUND, webOf } from './github-read-routes.ts';
import { repository, user } from './github-shapes.ts';
import type { Answer, Call, Routes } from './routes.ts';
import { type Delivery, newId, type World } from './world.ts';

export type SimulatedApp = ReturnType<typeof makeApp>;

/**
 * Numbers of installations differ throughout the process, as octokit shares its wait for a token by them alone, and
 * between processes: in a shared Redis, pauses outlive a forge, whose port another one may get.
 */
let lastInstallation = randomInt(100, 1_000_000_000);

/** Made once a process, and only if asked for: it takes a moment in which nothing else happens. */
let keys: { publicKey: string; privateKey: string } | undefined;

function keyPair() {
  keys ??= generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  return keys;
}

export function makeApp(installations: Map<string, number>) {
  return {
    id: '4711',
    slug: 'gatehouse-app',
    installations,
    /** What it was given, by GitHub's names; a test may change it. */
    permissions: {
      metadata: 'read',
      contents: 'read',
      pull_requests: 'write',
      statuses: 'write',
      members: 'read',
    } as Readonly<Record<string, string>>,
    events: ['pull_request', 'pull_request_review', 'push'] as readonly string[],
    /** Its webhook. A registration from a manifest has GitHub make the secret. */
    hook: { url: '', content_type: 'form', secret: null as string | null },
    install(owner: string) {
      lastInstallation += 1;
      installations.set(owner, lastInstallation);
    },
    get publicKey() {
      return keyPair().publicKey;
    },
    get privateKey() {
      return keyPair().privateKey;
    },
  };
}

const TOKEN_LIFE_MS = 3_600_000;

export function githubAppRoutes(world: World, app: SimulatedApp): Routes {
  const asApp = (answer: (call: Call) => Answer) => (call: Call) =>
    call.login === `app:${app.slug}`
      ? answer(call)
      : { status: 401, body: { message: 'A JSON web token could not be decoded' } };
  const installation = (owner: string | undefined): Answer => {
    const id = app.installations.get(owner ?? '');
    const body = { id, app_id: Number(app.id), app_slug: app.slug, permissions: app.permissions };
    return id === undefined ? NOT_FOUND : { status: 200, body };
  };
  const repos = '/repos/:owner/:repo';

  return {
    'GET /app': asApp((call) => ({
      status: 200,
      body: {
        id: Number(app.id),
        slug: app.slug,
        html_url: `${webOf(call)}/github-apps/${app.slug}`,
        permissions: app.permissions,
        events: app.events,
      },
    })),
    'GET /app/hook/config': asApp(() => ({ status: 200, body: shownHook(app) })),
    [`GET ${repos}/installation`]: asApp((call) => installation(call.parameters['owner'])),
    'GET /app/installations': asApp((call) =>
      page(
        call,
        [...app.installations].map(([login, id]) => ({
          id,
          app_id: Number(app.id),
          app_slug: app.slug,
          account: user(login),
          permissions: app.permissions,
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
    'GET /orgs/:org/installation': asApp((call) => installation(call.parameters['org'])),

    'POST /app/installations/:id/access_tokens': asApp((call) => {
      const installed = [...app.installations].find(([, id]) => id === Number(call.parameters['id']));
      if (installed === undefined) {
        return NOT_FOUND;
      }
      const token = `ghs_installation${newId(world)}`;
      world.tokens.set(token, `${app.slug}[bot]`);
      world.installationTokens.set(token, installed[0]);
      return {
        status: 201,
        body: {
          token,
          expires_at: new Date(Date.now() + TOKEN_LIFE_MS).toISOString(),
          permissions: app.permissions,
        },
      };
    }),

    'GET /orgs/:org/memberships/:username': (call) => membership(world, app, call),

    'GET /app/hook/deliveries': asApp((call) => list(world, call)),
    'POST /app/hook/deliveries/:id/attempts': asApp((call) => redeliver(world, call)),
  };
}

/** Shown to members, and to an App that may read them. The same 404 is for strangers and for what may not be seen. */
function membership(world: World, app: SimulatedApp, { parameters, headers, login }: Call): Answer {
  const { org = '', username = '' } = parameters;
  const members = world.members.get(org) ?? [];
  const find = (name: string) => members.find((member) => member.login.toLowerCase() === name.toLowerCase());
  const token = headers['authorization']?.split(' ')[1] ?? '';
  const isApp = world.installationTokens.has(token);
  const refused = isApp ? app.permissions['members'] === undefined : find(login) === undefined;
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

function shownHook({ hook }: SimulatedApp): object {
  const { secret, ...shown } = hook;
  return { ...shown, ...(secret !== null && { secret: '********' }), insecure_ssl: '0' };
}

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

function redeliver(world: World, call: Call): Answer {
  const known = world.deliveries.find(({ id }) => id === Number(call.parameters['id']));
  if (known === undefined) {
    return NOT_FOUND;
  }
  const again: Delivery = { ...known, id: newId(world), statusCode: 200, deliveredAt: new Date().toISOString() };
  world.deliveries.push(again);
  return { status: 202, body: {} };
}
