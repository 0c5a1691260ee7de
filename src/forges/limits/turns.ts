import { setTimeout as sleep } from 'node:timers/promises';
import type { OptionalRedis } from '../optional-redis.ts';

/**
 * GitHub asks to write one thing at a time, with a second in between ("Best practices for using the REST API"), and
 * counts comments against a limit of their own, of which it does not say how much is left.
 */
const BETWEEN_MS = 1_000;

/**
 * Comments of one credential are written one after the other, a second apart. As many wait as reviews are under way: a
 * review that came back for its turn would have to judge again.
 */
export interface Turns {
  take<T>(scope: string, write: () => Promise<T>): Promise<T>;
}

/** In this process one after the other; a second apart in all replicas, as long as Redis answers. */
export function makeTurns(optionalRedis: OptionalRedis, origin: string, betweenMs = BETWEEN_MS): Turns {
  /** By scope, when the last one that waits has had its turn. */
  const turns = new Map<string, Promise<void>>();

  async function takeSecond(scope: string): Promise<void> {
    const key = `gatehouse:turn:${origin}:${scope}`;
    // Null: another replica has this second. Undefined: there is no Redis.
    while ((await optionalRedis.run((redis) => redis.set(key, '', 'PX', betweenMs, 'NX'))) === null) {
      await sleep(betweenMs / 10);
    }
  }

  return {
    async take(scope, write) {
      const before = turns.get(scope);
      const { promise, resolve } = Promise.withResolvers<void>();
      turns.set(scope, promise);
      try {
        await before;
        await takeSecond(scope);
        return await write();
      } finally {
        setTimeout(resolve, betweenMs);
      }
    },
  };
}
