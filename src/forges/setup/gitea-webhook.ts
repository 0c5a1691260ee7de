import { z } from 'zod';
import { parseAnswer, requireFound } from '../answer.ts';
import { type GiteaClient, path } from '../gitea/client.ts';
import { DIFFERENCES, type GiteaName } from '../gitea/differences.ts';
import { hookEvents } from '../gitea/hook-events.ts';

const hook = z.object({ id: z.number().int(), type: z.string(), config: z.object({ url: z.string().default('') }) });

/** The webhooks of `owner/name`, or of an organisation: those are sent for all of its repositories. */
export function hooksOf(client: GiteaClient, owner: string) {
  const route = `${path(owner.includes('/') ? 'repos' : 'orgs', ...owner.split('/'))}/hooks`;
  return {
    /** The ids of those to a URL. One for a chat has a type of its own, and another body. */
    async find(url: string): Promise<readonly number[]> {
      const hooks = requireFound(await client.askAll(route, z.array(hook)), `GET ${route}`);
      const same = hooks.filter(({ type, config }) => Object.hasOwn(DIFFERENCES, type) && config.url === url);
      return same.map(({ id }) => id);
    },
    /** With all events that Gatehouse needs. */
    async create(forge: GiteaName, url: string, secret: string): Promise<void> {
      const events = hookEvents(forge).map(({ name }) => name);
      const made = { type: forge, active: true, events, config: { url, content_type: 'json', secret } };
      parseAnswer(hook, await client.write('POST', route, made), `POST ${route}`);
    },
    remove: (id: number) => client.write('DELETE', `${route}/${id}`, undefined, true),
  };
}
