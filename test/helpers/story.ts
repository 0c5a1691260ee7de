import { randomUUID } from 'node:crypto';
import type { ForgeName } from '../../src/forges/forge.ts';
import { type Door, openDoor, SECRET } from './door.ts';
import { type SimulatedForge, startSimulatedForge } from './simulated-forge/simulated-forge.ts';
import type { WebhookEvent } from './simulated-forge/webhooks.ts';
import { until } from './until.ts';

export const FORGES: readonly ForgeName[] = ['github', 'gitea', 'forgejo'];
export const REPOSITORY = 'acme/widgets';

/** A forge with a repository, and Gatehouse beside it: door and worker, on real stores. */
export interface Story extends AsyncDisposable {
  readonly forge: SimulatedForge;
  readonly door: Door;
  /** Sends the forge's webhook to the door and expects it to be acknowledged. */
  tell(event: WebhookEvent): Promise<void>;
  /** Waits until no job waits or runs. */
  settled(): Promise<void>;
  /** The present status of a pull request's head, as `state: description`; undefined when there is none. */
  status(number: number): { readonly state: string; readonly description: string } | undefined;
  /** What Gatehouse says on the pull request, oldest first. */
  comments(number: number): readonly string[];
  inlines(number: number): readonly { readonly path: string; readonly line: number | null; readonly body: string }[];
}

export async function tellStory(
  name: ForgeName,
  files: Readonly<Record<string, string>>,
  env: Readonly<Record<string, string>> = {},
): Promise<Story> {
  const forge = await startSimulatedForge({ forge: name });
  forge.createRepository(REPOSITORY, files);
  const door = await openDoor(
    { FORGE: name, FORGE_URL: forge.url, FORGE_TOKEN: forge.token, ...env },
    { door: true, worker: true },
  );
  // So that a story of failures is told in seconds: what is tried again is tried again at once.
  await door.database.query('UPDATE gatehouse_jobs.queue SET retry_delay = 1, retry_backoff = false');

  return {
    forge,
    door,
    async tell(event) {
      const details = { secret: SECRET, deliveryId: randomUUID() };
      const response = await forge.deliver(`${door.url}/webhook`, REPOSITORY, event, details);
      if (response.status !== 200) throw new Error(`the door answered ${response.status}: ${await response.text()}`);
    },
    settled: () =>
      until(async () => {
        const { rows } = await door.database.query(
          "SELECT FROM gatehouse_jobs.job WHERE state IN ('created', 'retry', 'active') AND name <> 'review-dead-letters' LIMIT 1",
        );
        return rows.length === 0;
      }),
    status(number) {
      const [latest] = forge.statuses(REPOSITORY, forge.pull(REPOSITORY, number).headSha).toReversed();
      return latest && { state: latest.state, description: latest.description };
    },
    comments: (number) =>
      forge
        .pull(REPOSITORY, number)
        .comments.filter(({ author }) => author === 'gatehouse')
        .map(({ body }) => body),
    inlines: (number) =>
      forge
        .pull(REPOSITORY, number)
        .inlineComments.filter(({ author }) => author === 'gatehouse')
        .map(({ path, line, body }) => ({ path, line, body })),
    async [Symbol.asyncDispose]() {
      await door[Symbol.asyncDispose]();
      await forge.stop();
    },
  };
}
