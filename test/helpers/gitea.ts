import { fork } from 'node:child_process';
import { once } from 'node:events';
import { inTime } from './deadline.ts';
import type { Gitea } from './gitea-container.ts';
import type { FromGitea } from './gitea-process.ts';

export const GITEA_IMAGE = 'gitea/gitea:1.26-rootless';

/** A real Gitea of the caller's, in a container that ends with `close()` and with this process, however it ends. */
export interface OwnGitea {
  readonly gitea: Gitea;
  close(): Promise<void>;
}

/** Returns why there is none, to be read after a "because", where it cannot be had. */
export async function startGitea(): Promise<OwnGitea | string> {
  const child = fork(new URL('./gitea-process.ts', import.meta.url), {
    detached: true,
    execArgv: [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const ended = once(child, 'exit');
  const close = async () => {
    child.ref();
    if (child.connected) {
      child.disconnect();
    }
    await inTime('Gitea is closed', ended).finally(() => child.unref());
  };
  const [message] = (await Promise.race([
    once(child, 'message'),
    ended.then(() => [{ type: 'unavailable', reason: 'its process ended' }]),
  ])) as [FromGitea];
  if (message.type === 'ready') {
    // Whoever fails before the close() just ends, and the container with it.
    child.unref();
    child.channel?.unref();
    return { gitea: message.gitea, close };
  }
  await close();
  return message.reason;
}

export const GITEA_VARIABLE = 'TEST_GITEA';

/** The Gitea of the test run; undefined where the run has none, and has said why. */
export function sharedGitea(): Gitea | undefined {
  const given = process.env[GITEA_VARIABLE];
  return given === undefined ? undefined : JSON.parse(given);
}

export function asksForGitea(): boolean {
  const value = process.env['TEST_FORGE'] ?? '';
  if (value !== '' && value !== 'gitea') {
    throw new Error(`TEST_FORGE is "${value}"; it must be "gitea", or unset`);
  }
  return value === 'gitea';
}
