/**
 * The process that the real Gitea belongs to, started by gitea.ts: when the channel to its parent closes (the parent
 * closed it, ended, or was killed) it removes the container and ends.
 */
import { INSISTENT } from './container-stores.ts';
import { type Gitea, type RunningGitea, startGiteaContainer } from './gitea-container.ts';

export type FromGitea =
  | { readonly type: 'ready'; readonly gitea: Gitea }
  | { readonly type: 'unavailable'; readonly reason: string };

const starting = startGiteaContainer(INSISTENT).catch((error: unknown) => ({
  unavailable: error instanceof Error ? error.message : String(error),
}));

process.on('disconnect', () => void close());
process.on('SIGINT', () => void close());
process.on('SIGTERM', () => void close());

const started = await starting;
const message: FromGitea =
  'unavailable' in started
    ? { type: 'unavailable', reason: started.unavailable.replaceAll('\n', ' ') }
    : { type: 'ready', gitea: withoutMethods(started) };
if (process.connected) {
  process.send?.(message, undefined, undefined, () => {});
}

function withoutMethods({ url, container, version, tokens }: RunningGitea): Gitea {
  return { url, container, version, tokens };
}

let closing: Promise<void> | undefined;

function close(): Promise<void> {
  closing ??= starting.then(async (gitea) => {
    if ('close' in gitea) {
      await gitea.close();
    }
    process.exit(0);
  });
  return closing;
}
