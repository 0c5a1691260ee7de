import { z } from 'zod';
import { id, parseAnswer, parseJson } from '../answer.ts';
import { APP_EVENTS, APP_PERMISSIONS } from '../github/app-permissions.ts';
import { ForgeError } from '../port/forge-error.ts';
import type { SetupConnection } from './connection.ts';

// Registering a GitHub App from a manifest (docs.github.com, "Registering a GitHub App from a manifest"): a form posts
// the manifest to GitHub, which sends the browser back with a code. The code is exchanged once, within an hour.

export interface AppWishes {
  readonly forgeUrl: string;
  readonly webhookUrl: string;
  /** Who is to own the App; the signed-in user's account where absent. */
  readonly organisation: string | undefined;
}

export function manifestOf({ webhookUrl }: AppWishes, redirectUrl: string): object {
  return {
    // The homepage, which GitHub requires. It asks for a name, which is unique on the whole forge.
    url: new URL(webhookUrl).origin,
    hook_attributes: { url: webhookUrl, active: true },
    redirect_url: redirectUrl,
    description: 'Reviews pull requests against the rules in their repository.',
    public: false,
    default_permissions: Object.fromEntries(APP_PERMISSIONS.map(({ key, access }) => [key, access])),
    default_events: APP_EVENTS.map(({ key }) => key),
  };
}

/** Where the form posts the manifest to. The state comes back with the code. */
export function registrationUrl({ forgeUrl, organisation }: AppWishes, state: string): string {
  const account = organisation === undefined ? '' : `/organizations/${encodeURIComponent(organisation)}`;
  return `${forgeUrl}${account}/settings/apps/new?state=${state}`;
}

const registered = z.object({
  id,
  html_url: z.url({ protocol: /^https?$/ }).transform((url) => new URL(url).href),
  /** The private key, which GitHub shows only this once. */
  pem: z.string(),
  webhook_secret: z.string(),
});

/** Exchanges the code for the App and its secrets. */
export async function convertManifest({ apiUrl, fetchFor }: SetupConnection, code: string) {
  const route = 'POST /app-manifests/{code}/conversions';
  const headers = { accept: 'application/vnd.github+json', 'user-agent': 'gatehouse' };
  const request = fetchFor('manifest')(`${apiUrl}/app-manifests/${code}/conversions`, { method: 'POST', headers });
  const response = await request.catch((error: ForgeError) => {
    // The message has the path, and a code that did not arrive still works for an hour.
    throw new ForgeError(error.kind, error.message.replaceAll(code, '{code}'), { cause: error.cause });
  });
  if (response.status !== 201) {
    const advice = 'the code was used already, or is older than an hour: run gatehouse setup again';
    throw new ForgeError('invalid', `${route}: the forge answered ${response.status}: ${advice}`);
  }
  return parseAnswer(registered, parseJson(response.body), route);
}
