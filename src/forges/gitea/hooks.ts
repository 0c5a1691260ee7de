import { requireFound } from '../answer.ts';
import { ForgeError } from '../port/forge-error.ts';
import type { Hook, HookList, HookPlace, HookReader } from '../port/inspection.ts';
import { splitRepository } from '../port/names.ts';
import { yesNo } from '../port/yes-no.ts';
import { type GiteaClient, path } from './client.ts';
import type { GiteaName } from './differences.ts';
import { missingHookEvents } from './hook-events.ts';
import { repositoryPath } from './read.ts';
import * as shapes from './shapes.ts';

/**
 * Those of a repository are listed to its administrators, those of an organisation to its owners, those of the instance
 * to the administrators of the forge.
 */
export function makeHookReader(forge: GiteaName, client: GiteaClient): HookReader {
  return {
    async lists(repository) {
      const { owner } = splitRepository(repository);
      return [
        await listOf(client, 'repository', `${repositoryPath(repository)}/hooks`),
        await listOfOwner(client, owner),
        await listOf(client, 'instance', '/admin/hooks'),
      ];
    },

    missingEvents: (events, extras) =>
      missingHookEvents(forge, events)
        .filter(({ for: purpose }) => purpose === undefined || extras.includes(purpose))
        .map(({ title }) => title),
  };
}

/** A person's own webhooks are listed to nobody else. */
async function listOfOwner(client: GiteaClient, owner: string): Promise<HookList> {
  const list = await listOf(client, 'owner', `${path('orgs', owner)}/hooks`);
  if (list.kind === 'listed') {
    return list;
  }
  const { login } = requireFound(await client.ask('/user', shapes.user), 'GET /user');
  return login.toLowerCase() === owner.toLowerCase() ? listOf(client, 'owner', '/user/hooks') : list;
}

async function listOf(client: GiteaClient, place: HookPlace, route: string): Promise<HookList> {
  try {
    const listed = await client.askAll(route, shapes.hooks);
    return listed === undefined
      ? { place, kind: 'hidden' }
      : { place, kind: 'listed', hooks: listed.map((hook) => toHook(place, hook)) };
  } catch (error) {
    if (error instanceof ForgeError && error.kind === 'refused') {
      return { place, kind: 'hidden' };
    }
    throw error;
  }
}

function toHook(place: HookPlace, { active, events, config }: shapes.ListedHook): Hook {
  return {
    place,
    url: config.url,
    active: yesNo(active),
    contentType: config.content_type,
    events,
    // Shown to nobody, not even whether there is one.
    hasSecret: 'unknown',
  };
}
