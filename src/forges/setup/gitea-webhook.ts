import { z } from 'zod';
import { parseAnswer } from '../answer.ts';
import { type GiteaClient, path } from '../gitea/client.ts';
import { DIFFERENCES, type GiteaName } from '../gitea/differences.ts';
import { type HookEvent, hookEvents, missingHookEvents } from '../gitea/hook-events.ts';
import { ForgeError } from '../port/forge-error.ts';
import { splitRepository } from '../port/names.ts';

/** Whose webhooks. Those of an organisation are sent for all of its repositories. */
export type HookOwner =
  | { readonly kind: 'repository'; readonly repository: string }
  | { readonly kind: 'organisation'; readonly organisation: string };

/** What the webhook of an owner should be. */
export interface WantedHook {
  readonly forge: GiteaName;
  readonly owner: HookOwner;
  readonly url: string;
  /** The URL of a webhook that gets the new one. */
  readonly replacedUrl?: string | undefined;
}

export type HookFault =
  | { readonly kind: 'url'; readonly found: string }
  | { readonly kind: 'inactive' }
  | { readonly kind: 'content-type'; readonly found: string }
  | { readonly kind: 'missing-events'; readonly events: readonly HookEvent[] };

/** What there is to do. `others` are more webhooks with this URL, each of which sends every event again. */
export type HookPlan =
  | { readonly kind: 'create' }
  | { readonly kind: 'keep'; readonly hook: GiteaHook; readonly others: readonly GiteaHook[] }
  | {
      readonly kind: 'repair';
      readonly hook: GiteaHook;
      readonly others: readonly GiteaHook[];
      readonly faults: readonly HookFault[];
    };

/** The API never shows the secret. */
const listedHook = z.object({
  id: z.number().int(),
  type: z.string(),
  active: z.boolean(),
  events: z
    .array(z.string())
    .nullish()
    .transform((events) => events ?? []),
  config: z.object({ url: z.string().default(''), content_type: z.string().default('') }),
  branch_filter: z.string().default(''),
  authorization_header: z.string().default(''),
});

export type GiteaHook = z.output<typeof listedHook>;

/** Reads the webhooks, and changes nothing. */
export async function planHook(client: GiteaClient, wanted: WantedHook): Promise<HookPlan> {
  const route = hooksPath(wanted.owner);
  const hooks = await client.askAll(route, z.array(listedHook));
  if (hooks === undefined) {
    throw new ForgeError('invalid', `GET ${route}: not found, or not visible with this token`, { status: 404 });
  }
  // A webhook for a chat has a type of its own, which cannot be changed, and another body.
  const usable = hooks.filter(({ type }) => Object.hasOwn(DIFFERENCES, type));
  const same = usable.filter(({ config }) => config.url === wanted.url);
  const hook = same[0] ?? usable.find(({ config }) => isMeant(config.url, wanted));
  if (hook === undefined) {
    return { kind: 'create' };
  }
  const others = same.filter(({ id }) => id !== hook.id);
  const faults = faultsOf(wanted, hook);
  return faults.length === 0 ? { kind: 'keep', hook, others } : { kind: 'repair', hook, others, faults };
}

function faultsOf({ forge, url }: WantedHook, { active, config, events }: GiteaHook): readonly HookFault[] {
  const missing = missingHookEvents(forge, events);
  return [
    ...(config.url === url ? [] : [{ kind: 'url', found: config.url } as const]),
    ...(active ? [] : [{ kind: 'inactive' } as const]),
    ...(config.content_type === 'json' ? [] : [{ kind: 'content-type', found: config.content_type } as const]),
    ...(missing.length === 0 ? [] : [{ kind: 'missing-events', events: missing } as const]),
  ];
}

/**
 * Whether a webhook with another URL was meant to be this one: the user says so, or only the path is missing or ends in
 * a slash. Any other path of the host may belong to another service.
 */
function isMeant(found: string, { url, replacedUrl }: WantedHook): boolean {
  if (found === replacedUrl) {
    return true;
  }
  const wanted = new URL(url);
  const other = URL.parse(found);
  return (
    other !== null &&
    other.origin === wanted.origin &&
    other.search === '' &&
    ['/', `${wanted.pathname}/`].includes(other.pathname)
  );
}

const written = z.object({ id: z.number().int() });

export async function createHook(client: GiteaClient, wanted: WantedHook, secret: string): Promise<void> {
  const events = hookEvents(wanted.forge).map(({ name }) => name);
  await post(client, wanted, secret, { events });
}

/**
 * Sets what Gatehouse needs and keeps the rest: other events, the branch filter, the authorization header. The secret
 * stays. The forge would reset what an edit leaves out.
 */
export async function repairHook(client: GiteaClient, wanted: WantedHook, hook: GiteaHook): Promise<void> {
  const route = `${hooksPath(wanted.owner)}${path(hook.id)}`;
  const config = { url: wanted.url, content_type: 'json' };
  const answer = await client.write('PATCH', route, { active: true, config, ...keptOf(wanted, hook) });
  parseAnswer(written, answer, `PATCH ${route}`);
}

/**
 * Gitea 1.26 ignores a secret in an edit, so a new webhook takes the place of the old one, and of others with its URL.
 * It is made first: no event is lost between the two, and one that comes twice is reviewed twice.
 */
export async function replaceHook(
  client: GiteaClient,
  wanted: WantedHook,
  [hook, ...others]: readonly [GiteaHook, ...GiteaHook[]],
  secret: string,
): Promise<void> {
  await post(client, wanted, secret, keptOf(wanted, hook));
  for (const { id } of [hook, ...others]) {
    await client.write('DELETE', `${hooksPath(wanted.owner)}${path(id)}`, undefined, true);
  }
}

async function post(client: GiteaClient, { forge, owner, url }: WantedHook, secret: string, more: object) {
  const route = hooksPath(owner);
  const config = { url, content_type: 'json', secret };
  const answer = await client.write('POST', route, { type: forge, active: true, config, ...more });
  parseAnswer(written, answer, `POST ${route}`);
}

/** The events that are listed already stay, by the names to ask for them by. */
function keptOf({ forge }: WantedHook, hook: GiteaHook) {
  const needed = hookEvents(forge);
  const covered = new Set(needed.flatMap(({ name, listedAs = [name] }) => listedAs));
  const others = hook.events.filter((event) => !covered.has(event));
  return {
    // `issues` would ask for all kinds of events of issues.
    events: [...needed.map(({ name }) => name), ...others.map((event) => (event === 'issues' ? 'issues_only' : event))],
    branch_filter: hook.branch_filter,
    authorization_header: hook.authorization_header,
  };
}

function hooksPath(owner: HookOwner): string {
  if (owner.kind === 'organisation') {
    return path('orgs', owner.organisation, 'hooks');
  }
  const { owner: account, name } = splitRepository(owner.repository);
  return path('repos', account, name, 'hooks');
}
