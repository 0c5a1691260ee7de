import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { OptionalRedis } from '../optional-redis.ts';

/** No forge's window is longer than an hour; a longer wait is treated as a mistake. */
const MAX_PAUSE_MS = 3_600_000;

/** By how much the clocks of two replicas may differ. */
const MAX_CLOCK_SKEW_MS = 60_000;

/** By how much later a replica may learn of a pause from another. */
const ASKED_MS = 500;
const MAX_SCOPES = 1_000;

/** Enough to distinguish tokens, too little to reveal one. */
const SCOPE_DIGITS = 16;

/** Sets the time only if it is later than the one that is there, unless that one is implausible, and lets it expire. */
const EXTEND = `
local paused = tonumber(redis.call('GET', KEYS[1]) or '0') or 0
if tonumber(ARGV[1]) > paused or paused > tonumber(ARGV[2]) then
  redis.call('SET', KEYS[1], ARGV[1], 'PXAT', ARGV[1])
  return ARGV[1]
end
return tostring(paused)`;

/**
 * Until when no request may be sent to the forge because of its rate limit, shared by all replicas over Redis.
 * A scope is what the forge counts by: a token, or an installation of an App.
 */
export interface Pause {
  /** Milliseconds since the epoch; undefined when nothing is paused. */
  pausedUntil(scope: string): Promise<number | undefined>;
  /** The later of two times wins. Returns the time that is now in force. */
  pauseUntil(scope: string, time: number): Promise<number>;
}

/**
 * Two installations of Gatehouse may share a Redis and a forge, but not a token: neither waits for the other's limit.
 */
export function scopeOfToken(token: string): string {
  const digest = createHash('sha256').update(`pause of ${token}`).digest('hex');
  return `token-${digest.slice(0, SCOPE_DIGITS)}`;
}

function latestBelievable(): number {
  return Date.now() + MAX_PAUSE_MS + MAX_CLOCK_SKEW_MS;
}

export function makePause(optionalRedis: OptionalRedis, origin: string): Pause {
  /** Used while Redis is unavailable, and when it comes back empty. */
  const local = new Map<string, number>();
  /** What Redis said of a scope a moment ago: the requests of one review need not each ask. */
  const asked = new LRUCache<string, Promise<number>>({ max: MAX_SCOPES, ttl: ASKED_MS });
  const key = (scope: string) => `gatehouse:pause:${origin}:${scope}`;

  function ask(scope: string): Promise<number> {
    const answer = optionalRedis.run((redis) => redis.get(key(scope))).then(believable);
    asked.set(scope, answer);
    return answer;
  }

  function remember(scope: string, time: number): number {
    const latest = Math.max(local.get(scope) ?? 0, time);
    local.set(scope, latest);
    return latest;
  }

  /** A time too far away is ignored and not shortened, which would keep the end of the pause an hour away forever. */
  function believable(stored: string | null | undefined): number {
    const time = Number(stored ?? 0) || 0;
    return time <= latestBelievable() ? time : 0;
  }

  return {
    async pausedUntil(scope) {
      const answered = asked.get(scope) ?? ask(scope);
      const until = Math.max(await answered, local.get(scope) ?? 0);
      if (until > Date.now()) {
        return until;
      }
      local.delete(scope);
      return undefined;
    },

    async pauseUntil(scope, time) {
      const until = remember(scope, Math.ceil(Math.min(time, Date.now() + MAX_PAUSE_MS)));
      const shared = await optionalRedis.run((redis) =>
        redis.eval(EXTEND, 1, key(scope), String(until), String(latestBelievable())),
      );
      return Math.max(until, believable(String(shared ?? 0)));
    },
  };
}
