import { setTimeout as sleep } from 'node:timers/promises';
import type { Site, TestForge } from '../test/forge/site.ts';
import { type Door, SECRET } from '../test/helpers/door.ts';

/** What the measurements on a real forge share. */
export interface ForgeSetting {
  readonly forge: TestForge;
  /** Gatehouse, door and worker. */
  readonly door: Door;
  /** Of the owner of all repositories. */
  readonly ownerToken: string;
  say(text: string): void;
}

const POLL_MS = 10;

/** Whether the condition holds before the time is over. It must be cheap: it is called several times a second. */
export async function holdsWithin(ms: number, condition: () => boolean | Promise<boolean>): Promise<boolean> {
  const start = performance.now();
  while (!(await condition())) {
    if (performance.now() - start > ms) {
      return false;
    }
    await sleep(POLL_MS);
  }
  return true;
}

/** A repository whose webhooks Gatehouse gets. */
export async function hookedSite({ forge, door }: ForgeSetting, policy: string): Promise<Site> {
  const site = await forge.site({ '.gatehouse.yml': policy });
  await site.hook(door.service.port, SECRET);
  return site;
}
