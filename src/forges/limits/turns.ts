import { setTimeout as sleep } from 'node:timers/promises';
import type { OptionalRedis } from '../optional-redis.ts';
import { ForgeError } from '../port/forge-error.ts';

/**
 * GitHub asks to write one thing at a time, with a second in between ("Best practices for using the REST API"), and
 * counts comments against a limit of their own, of which it does not say how much is left.
 */
const BETWEEN_MS = 1_000;
/** Whoever would wait longer comes back as a job: a status must not wait for the comments of other reviews. */
const MAX_WAITING = 4;

/** Comments of one credential are written one after the other, a second apart. */
export interface Turns {
  /** Throws as `rate-limited` where too many wait already. */
  take<T>(scope: string, write: () => Promise<T>): Promise<T>;
}

/** In this process one after the other; a second apart in all replicas, as long as Redis answers. */
export function makeTurns(optionalRedis: OptionalRedis, origin: string, betweenMs = BETWEEN_MS): Turns {
  const lines = new Map<string, { waiting: number; last: Promise<unknown> }>();

  async function takeSecond(scope: string): Promise<void> {
    const key = `gatehouse:turn:${origin}:${scope}`;
    // Null: another replica has this second. Undefined: there is no Redis.
    while ((await optionalRedis.run((redis) => redis.set(key, '', 'PX', betweenMs, 'NX'))) === null) {
      await sleep(betweenMs / 10);
    }
  }

  return {
    async take(scope, write) {
      const line = lines.get(scope) ?? { waiting: 0, last: Promise.resolve() };
      lines.set(scope, line);
      if (line.waiting > MAX_WAITING) {
        const retryAt = Date.now() + line.waiting * betweenMs;
        throw new ForgeError('rate-limited', 'too many comments wait to be written', { retryAt });
      }
      line.waiting += 1;
      const before = line.last;
      const written = Promise.withResolvers<void>();
      line.last = written.promise;
      try {
        await before;
        await takeSecond(scope);
        return await write();
      } finally {
        line.waiting -= 1;
        setTimeout(written.resolve, betweenMs);
      }
    },
  };
}
