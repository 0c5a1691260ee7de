import { once } from 'node:events';
import type { Redis } from 'ioredis';
import { withTimeout } from '../common/timeout.ts';

/** What a log must offer here; pino's logger fits. */
export interface Log {
  debug(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

/** How long one Redis command may keep a forge request waiting. */
const COMMAND_TIMEOUT_MS = 250;
/** After a failure Redis is not used for this long, so that a hung one costs little time. */
const REST_MS = 2_000;

/**
 * Redis that may be missing: every command is bounded in time, and a failed one returns
 * undefined; it never throws.
 */
export interface OptionalRedis {
  run<T>(command: (redis: Redis) => Promise<T>): Promise<T | undefined>;
}

export function makeOptionalRedis(redis: Redis | undefined, log?: Log, patience = 1): OptionalRedis {
  const limitMs = COMMAND_TIMEOUT_MS * patience;
  let restUntil = 0;
  // A replica that has just started must know about limits that others have met.
  const firstConnection = redis?.status === 'connecting' ? once(redis, 'ready').catch(() => {}) : Promise.resolve();

  function failed(error: unknown): undefined {
    if (Date.now() >= restUntil) {
      log?.warn({ err: error }, 'Redis did not answer; each process keeps to the forge’s limits by itself for now');
    }
    restUntil = Date.now() + REST_MS;
    return undefined;
  }

  return {
    async run(command) {
      if (redis === undefined || Date.now() < restUntil) {
        return undefined;
      }
      // A command that takes longer needs no cleanup: ioredis settles it by itself.
      try {
        const answer = firstConnection.then(() => command(redis));
        return await withTimeout(limitMs, answer, () => Promise.reject(new Error(`no answer in ${limitMs} ms`)));
      } catch (error) {
        return failed(error);
      }
    },
  };
}
