import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { OptionalRedis } from '../optional-redis.ts';

/**
 * What a request waits for before it is sent, shared by all replicas over Redis: a pause that the forge imposed, and
 * the pace of writes.
 */

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

/**
 * GitHub's documented secondary limit: 80 requests a minute that create content ("Rate limits for the REST API").
 * Whether a commit status is content is not documented, so every write counts. Half of them may come at once, and the
 * other half are spread over the minute: no minute has more than 80.
 */
export const MAX_WRITES_AT_ONCE = 40;
const WRITE_INTERVAL_MS = 60_000 / (80 - MAX_WRITES_AT_ONCE);
/** Those at once that only statuses may use: they decide what can be merged, and never wait for comments. */
export const KEPT_FOR_STATUSES = 10;

/**
 * Generic cell rate algorithm. The key has the time at which all writes so far would have been made at an even pace;
 * a write is due when that is no more than a burst ahead, less what is kept from it. Returns 0, or for how many
 * milliseconds to wait.
 */
const TAKE = `
local now, interval, burst, kept = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local paid = math.max(tonumber(redis.call('GET', KEYS[1]) or '0') or 0, now)
local wait = paid + interval - burst + kept - now
if wait > 0 and wait <= burst + kept then
  return math.ceil(wait)
end
redis.call('SET', KEYS[1], math.min(paid, now + burst) + interval, 'PX', math.ceil(burst + interval))
return 0`;

export type WriteKind = 'status' | 'other';

/** What may be written to GitHub without going over its secondary limits, shared by all replicas over Redis. */
export interface WriteBudget {
  /** Takes one write. Undefined when it may be made now, else when to ask again: milliseconds since the epoch. */
  take(scope: string, kind: WriteKind): Promise<number | undefined>;
}

export function makeWriteBudget(optionalRedis: OptionalRedis, origin: string, now = () => Date.now()): WriteBudget {
  const burst = MAX_WRITES_AT_ONCE * WRITE_INTERVAL_MS;
  /** Used while Redis is unavailable. */
  const local = new Map<string, number>();

  function takeLocally(scope: string, kept: number): number {
    const paid = Math.max(local.get(scope) ?? 0, now());
    const wait = paid + WRITE_INTERVAL_MS - burst + kept - now();
    if (wait > 0) {
      return wait;
    }
    local.set(scope, paid + WRITE_INTERVAL_MS);
    return 0;
  }

  return {
    async take(scope, kind) {
      const key = `gatehouse:writes:${origin}:${scope}`;
      const time = now();
      const kept = kind === 'status' ? 0 : KEPT_FOR_STATUSES * WRITE_INTERVAL_MS;
      const shared = await optionalRedis.run((redis) => redis.eval(TAKE, 1, key, time, WRITE_INTERVAL_MS, burst, kept));
      const wait = shared === undefined ? takeLocally(scope, kept) : Number(shared);
      return wait > 0 ? time + wait : undefined;
    },
  };
}
