import { setTimeout as sleep } from 'node:timers/promises';
import type { World } from './world.ts';

const POLL_MS = 250;
const ANSWER_MS = 3_000;

/** Asks the door for its health until it is stopped. */
export function watchHealth(world: World): { stop(): Promise<string> } {
  const said = new Set<string>();
  let watching = true;
  const loop = async () => {
    while (watching) {
      said.add(await ask(world.door.port));
      await sleep(POLL_MS);
    }
  };
  const running = loop();
  return {
    /** Everything that it said, in the order of its first time. */
    async stop() {
      watching = false;
      await running;
      return [...said].join(', ');
    },
  };
}

async function ask(port: number): Promise<string> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/health`, { signal: AbortSignal.timeout(ANSWER_MS) });
    const { error = {} } = (await response.json()) as { error?: Record<string, { message?: string }> };
    const faults = Object.entries(error).map(([name, { message }]) => `${name} ${message}`);
    return faults.join(' and ') || 'up';
  } catch {
    return 'no answer';
  }
}
