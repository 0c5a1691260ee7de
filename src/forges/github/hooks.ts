import type { Octokit } from 'octokit';
import { z } from 'zod';
import { id } from '../answer.ts';
import { ForgeError } from '../port/forge-error.ts';
import type { Hook, HookAnswer, HookList, HookPlace, HookReader } from '../port/inspection.ts';
import { APP_EVENTS } from './app-permissions.ts';
import type { GitHubClient } from './client.ts';
import { repositoryAddress } from './read.ts';
import { ask, askAll } from './request.ts';
import * as shapes from './shapes.ts';

/** GitHub sends JSON only if it is told to. A secret is shown as asterisks. */
const config = z.object({
  url: z.string().nullish(),
  content_type: z.string().default('form'),
  secret: z.string().nullish(),
});
const hooks = z.array(z.object({ id, active: z.boolean(), events: z.array(z.string()), config }));

const ANSWERS = 30;

/** The App's webhook; with a token those of the repository and of the organisation. */
export function makeHookReader(client: GitHubClient): HookReader {
  return {
    lists: (repository) => (client.kind === 'app' ? listOfApp(client.own) : listsOfRepository(client, repository)),

    missingEvents(events, extras) {
      const purposes: readonly string[] = ['every-review', ...extras];
      const needed = events.includes('*') ? [] : APP_EVENTS.filter((event) => purposes.includes(event.for));
      return needed.filter(({ key }) => !events.includes(key)).map(({ title }) => title);
    },

    async answers(repository, hook) {
      const { owner, repo } = repositoryAddress(repository);
      // What a path does not name would be sent as a parameter of the query.
      const routes: Readonly<Record<HookPlace, readonly [route: string, parameters: object]>> = {
        app: ['GET /app/hook/deliveries', {}],
        repository: ['GET /repos/{owner}/{repo}/hooks/{hook_id}/deliveries', { owner, repo, hook_id: hook.id }],
        owner: ['GET /orgs/{owner}/hooks/{hook_id}/deliveries', { owner, hook_id: hook.id }],
        instance: ['', {}],
      };
      const [route, parameters] = routes[hook.place];
      const octokit = hook.place === 'app' ? client.own : await client.forRepository(repository);
      const listed = await unlessRefused(ask(octokit, route, { ...parameters, per_page: ANSWERS }, shapes.deliveries));
      return listed?.map(toAnswer);
    },
  };
}

function toAnswer({ guid, status_code, delivered_at }: z.output<typeof shapes.deliveries>[number]): HookAnswer {
  return { deliveryId: guid, status: status_code, at: delivered_at };
}

async function listOfApp(own: Octokit): Promise<readonly HookList[]> {
  const set = await ask(own, 'GET /app/hook/config', {}, config);
  const app = await ask(own, 'GET /app', {}, z.object({ events: z.array(z.string()) }));
  const found = set?.url ? [toHook('app', { id: '', events: app?.events ?? [], config: set })] : [];
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

function toHook(
  place: HookPlace,
  hook: { id: string; active?: boolean; events: string[]; config: z.output<typeof config> },
): Hook {
  return {
    id: hook.id,
    place,
    url: hook.config.url ?? '',
    active: hook.active,
    contentType: hook.config.content_type,
    events: hook.events,
    hasSecret: Boolean(hook.config.secret),
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
