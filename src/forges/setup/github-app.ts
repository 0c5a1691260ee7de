import { z } from 'zod';
import { parseAnswer, requireFound } from '../answer.ts';
import { APP_EVENTS, APP_PERMISSIONS, includesAccess, permissionName } from '../github/app-permissions.ts';
import type { GitHubClient } from '../github/client.ts';
import { send, write } from '../github/request.ts';

/** A registered App as GitHub has it, compared with what Gatehouse needs. */
export interface AppState {
  readonly slug: string;
  readonly pageUrl: string;
  /** By their names in docs/connect-github.md. No API can add them: the owner of the App does. */
  readonly missingPermissions: readonly string[];
  readonly missingEvents: readonly string[];
  readonly webhook: { readonly url: string; readonly contentType: string };
}

const app = z.object({
  slug: z.string().regex(/^[\w-]+$/),
  html_url: z.url({ protocol: /^https?$/ }).transform((url) => new URL(url).href),
  permissions: z.record(z.string(), z.string()),
  events: z.array(z.string()),
});

const hookConfig = z.object({ url: z.string().default(''), content_type: z.string().default('') });

const HOOK_CONFIG = '/app/hook/config';

/** Throws where the id or the key is not that of an App. */
export async function readApp({ own }: GitHubClient): Promise<AppState> {
  const read = async <T>(route: string, shape: z.ZodType<T>) =>
    parseAnswer(shape, requireFound(await send(own, route, {}), route).data, route);
  const { slug, html_url: pageUrl, permissions, events } = await read('GET /app', app);
  const { url, content_type: contentType } = await read(`GET ${HOOK_CONFIG}`, hookConfig);
  return {
    slug,
    pageUrl,
    missingPermissions: APP_PERMISSIONS.filter(({ key, access }) => !includesAccess(permissions[key], access)).map(
      permissionName,
    ),
    missingEvents: APP_EVENTS.filter(({ key }) => !events.includes(key)).map(({ title }) => title),
    webhook: { url, contentType },
  };
}

/** The events and whether it is active cannot be set by the API. */
export async function configureAppHook(
  { own }: GitHubClient,
  hook: { readonly url: string; readonly secret?: string },
): Promise<void> {
  const route = `PATCH ${HOOK_CONFIG}`;
  // As `data`: octokit takes a parameter named `url` for the address of the request.
  parseAnswer(hookConfig, await write(own, route, { data: { ...hook, content_type: 'json' } }), route);
}

/** Where the App is installed in repositories. */
export function installationUrl(pageUrl: string): string {
  return `${pageUrl}/installations/new`;
}
