import { z } from 'zod';
import { id, parseAnswer, parseJson } from '../answer.ts';
import { APP_EVENTS, APP_PERMISSIONS } from '../github/app-permissions.ts';
import { ForgeError } from '../port/forge-error.ts';
import type { ForgeFetch } from '../transport/forge-fetch.ts';

/**
 * Registering a GitHub App from a manifest (docs.github.com, "Registering a GitHub App from a manifest"): a form posts
 * the manifest to GitHub, which sends the browser back with a code. The code is exchanged once, within an hour, for the
 * App's id and its secrets.
 */

/** GitHub's limit for the name of an App. */
const MAX_NAME_CHARACTERS = 34;

export interface AppWishes {
  /** Who is to own the App; the signed-in user's account where absent. */
  readonly organisation: string | undefined;
  readonly webhookUrl: string;
}

export function manifestOf({ organisation, webhookUrl }: AppWishes, redirectUrl: string): object {
  return {
    // Names are unique on the whole forge. Without one GitHub asks for it; this one can be changed there.
    ...(organisation === undefined ? {} : { name: `gatehouse-${organisation}`.slice(0, MAX_NAME_CHARACTERS) }),
    // The homepage, which GitHub requires.
    url: new URL(webhookUrl).origin,
    hook_attributes: { url: webhookUrl, active: true },
    redirect_url: redirectUrl,
    description: 'Reviews pull requests by the rules in their repository.',
    public: false,
    default_permissions: Object.fromEntries(APP_PERMISSIONS.map(({ key, access }) => [key, access])),
    default_events: APP_EVENTS.map(({ key }) => key),
  };
}

/** Where the form posts the manifest to. */
export function registrationUrl(forgeUrl: string, organisation: string | undefined, state: string): string {
  const account = organisation === undefined ? '' : `/organizations/${encodeURIComponent(organisation)}`;
  return `${forgeUrl.replace(/\/+$/, '')}${account}/settings/apps/new?state=${encodeURIComponent(state)}`;
}

const converted = z.object({
  id,
  slug: z.string().regex(/^[\w-]+$/),
  html_url: z.url({ protocol: /^https?$/ }).transform((url) => new URL(url).href),
  pem: z.string(),
  webhook_secret: z.string().nullish(),
  owner: z.object({ login: z.string() }).nullish(),
});

/** A GitHub App that was just registered, with its secrets. */
export interface RegisteredApp {
  readonly appId: string;
  readonly slug: string;
  readonly pageUrl: string;
  /** PEM. */
  readonly privateKey: string;
  /** Undefined where GitHub made none. */
  readonly webhookSecret: string | undefined;
}

/** Exchanges the code, which works once. GitHub also sends a client secret, which Gatehouse does not use. */
export async function convertManifest(forgeFetch: ForgeFetch, apiUrl: string, code: string): Promise<RegisteredApp> {
  const route = 'POST /app-manifests/{code}/conversions';
  const response = await forgeFetch(`${apiUrl}/app-manifests/${encodeURIComponent(code)}/conversions`, {
    method: 'POST',
    headers: { accept: 'application/vnd.github+json', 'user-agent': 'gatehouse' },
  }).catch((error: unknown) => {
    // The message has the path, and a code that did not arrive still works for an hour.
    throw error instanceof ForgeError
      ? new ForgeError(error.kind, error.message.replaceAll(code, '{code}'), { cause: error.cause })
      : error;
  });
  if (response.status !== 201) {
    const advice = 'the code was used already, or is older than an hour: run gatehouse setup again';
    throw new ForgeError('invalid', `${route}: the forge answered ${response.status}: ${advice}`, {
      status: response.status,
    });
  }
  const app = parseAnswer(converted, parseJson(response.body), route);
  return {
    appId: app.id,
    slug: app.slug,
    pageUrl: app.html_url,
    privateKey: app.pem,
    webhookSecret: app.webhook_secret ?? undefined,
  };
}
