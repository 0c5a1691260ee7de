import type { Octokit } from 'octokit';
import { z } from 'zod';
import { ForgeError } from '../port/forge-error.ts';
import type { Hook, HookList, HookPlace, HookReader } from '../port/inspection.ts';
import { yesNo } from '../port/yes-no.ts';
import { APP_EVENTS } from './app-permissions.ts';
import type { GitHubClient } from './client.ts';
import { repositoryAddress } from './read.ts';
import { ask, askAll } from './request.ts';

/** GitHub sends JSON only if it is told to. A secret is shown as asterisks. */
const config = z.object({
  url: z.string().nullish(),
  content_type: z.string().default('form'),
  secret: z.string().nullish(),
});
const hooks = z.array(z.object({ active: z.boolean(), events: z.array(z.string()), config }));

/** The App's webhook; with a token those of the repository and of the organisation. */
export function makeHookReader(client: GitHubClient): HookReader {
  return {
    lists: (repository) => (client.kind === 'app' ? listOfApp(client.own) : listsOfRepository(client, repository)),

    missingEvents(events, extras) {
      const purposes: readonly string[] = ['every-review', ...extras];
      const needed = events.includes('*') ? [] : APP_EVENTS.filter((event) => purposes.includes(event.for));
      return needed.filter(({ key }) => !events.includes(key)).map(({ title }) => title);
    },
  };
}

async function listOfApp(own: Octokit): Promise<readonly HookList[]> {
  const set = await ask(own, 'GET /app/hook/config', {}, config);
  const app = await ask(own, 'GET /app', {}, z.object({ events: z.array(z.string()) }));
  const found = set?.url ? [toHook('app', { events: app?.events ?? [], config: set })] : [];
  return [{ place: 'app', kind: 'listed', hooks: found }];
}

async function listsOfRepository(client: GitHubClient, repository: string): Promise<readonly HookList[]> {
  const octokit = await client.forRepository(repository);
  const address = repositoryAddress(repository);
  const account = z.object({ owner: z.object({ type: z.string() }) });
  const found = await ask(octokit, 'GET /repos/{owner}/{repo}', address, account);
  const lists = [await listOf(octokit, 'repository', 'GET /repos/{owner}/{repo}/hooks', address)];
  return found?.owner.type === 'Organization'
    ? [...lists, await listOf(octokit, 'owner', 'GET /orgs/{owner}/hooks', { owner: address.owner })]
    : lists;
}

/** To those who may not see webhooks GitHub says that there is nothing. */
async function listOf(
  octokit: Octokit | undefined,
  place: HookPlace,
  route: string,
  parameters: Readonly<Record<string, string>>,
): Promise<HookList> {
  const listed = await unlessRefused(askAll(octokit, route, parameters, hooks));
  return listed === undefined
    ? { place, kind: 'hidden' }
    : { place, kind: 'listed', hooks: listed.map((hook) => toHook(place, hook)) };
}

function toHook(place: HookPlace, hook: { active?: boolean; events: string[]; config: z.output<typeof config> }): Hook {
  return {
    place,
    url: hook.config.url ?? '',
    active: yesNo(hook.active),
    contentType: hook.config.content_type,
    events: hook.events,
    hasSecret: yesNo(Boolean(hook.config.secret)),
  };
}

async function unlessRefused<T>(asking: Promise<T>): Promise<T | undefined> {
  try {
    return await asking;
  } catch (error) {
    if (error instanceof ForgeError && error.kind === 'refused') {
      return undefined;
    }
    throw error;
  }
}
