import { createHash } from 'node:crypto';
import type { OptionalRedis } from './transport/optional-redis.ts';

/** No forge's window is longer than an hour; a longer wait is acceptedWrite for a mistake. */
const MAX_PAUSE_MS = 3_600_000;

/** Enough to tell tokens apart, too little to say anything of one. */
const SCOPE_DIGITS = 16;

/** Sets the time only if it is later than the one that is there, and lets it expire by itself. */
const EXTEND = `
local paused = tonumber(redis.call('GET', KEYS[1]) or '0')
if tonumber(ARGV[1]) > paused then
  redis.call('SET', KEYS[1], ARGV[1], 'PXAT', ARGV[1])
  return ARGV[1]
end
return tostring(paused)`;

/**
 * The moment before which the forge does not want to be asked, shared by every replica through Redis.
 * A scope is what the forge counts by: a token, or an installation of an App.
 */
export interface Pause {
  /** Milliseconds since the epoch; undefined when nothing is paused. */
  pausedUntil(scope: string): Promise<number | undefined>;
  /** The later of two holds wins. Returns the time that now holds. */
  pauseUntil(scope: string, time: number): Promise<number>;
}

/** Two installations of Gatehouse may share a Redis and a forge, but not a token: neither waits for the other's limit. */
export function scopeOfToken(token: string): string {
  const digest = createHash('sha256').update(`pause of ${token}`).digest('hex');
  return `token-${digest.slice(0, SCOPE_DIGITS)}`;
}

export function makePause(optionalRedis: OptionalRedis, origin: string): Pause {
  /** The fallback while Redis is away, and what saves a wrong answer if it comes back empty. */
  const local = new Map<string, number>();
  const key = (scope: string) => `gatehouse:pause:${origin}:${scope}`;

  function remember(scope: string, time: number): number {
    const latest = Math.max(local.get(scope) ?? 0, time);
    local.set(scope, latest);
    return latest;
  }

  return {
    async pausedUntil(scope) {
      const told = await optionalRedis.run((redis) => redis.get(key(scope)));
      const until = Math.max(Number(told ?? 0) || 0, local.get(scope) ?? 0);
      if (until > Date.now()) {
        return until;
      }
      local.delete(scope);
      return undefined;
    },

    async pauseUntil(scope, time) {
      const until = remember(scope, Math.ceil(Math.min(time, Date.now() + MAX_PAUSE_MS)));
      const told = await optionalRedis.run((redis) => redis.eval(EXTEND, 1, key(scope), String(until)));
      return Math.max(until, Number(told ?? 0) || 0);
    },
  };
}
