import type { OptionalRedis } from '../transport/optional-redis.ts';

/**
 * GitHub's documented secondary limit: 80 requests a minute that create content ("Rate limits for the REST API"). Whether a
 * commit status is content is not documented, so every write counts. Half of them may come at once, and the other half
 * are spread over the minute: no minute has more than 80.
 */
export const MAX_WRITES_AT_ONCE = 40;
const WRITE_INTERVAL_MS = 60_000 / (80 - MAX_WRITES_AT_ONCE);

/**
 * Generic cell rate algorithm. The key has the time at which all writes so far would have been made at an even pace;
 * a write is due when that is no more than a burst ahead. Returns 0, or for how many milliseconds to wait.
 */
const TAKE = `
local now, interval, burst = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local paid = math.max(tonumber(redis.call('GET', KEYS[1]) or '0') or 0, now)
local wait = paid + interval - burst - now
if wait > 0 and wait <= burst then
  return math.ceil(wait)
end
redis.call('SET', KEYS[1], math.min(paid, now + burst) + interval, 'PX', math.ceil(burst + interval))
return 0`;

/** What may be written to GitHub without going over its secondary limits, shared by all replicas over Redis. */
export interface WriteBudget {
  /** Takes one write. Undefined when it may be made now, else when to ask again: milliseconds since the epoch. */
  take(scope: string): Promise<number | undefined>;
}

export function makeWriteBudget(optionalRedis: OptionalRedis, origin: string, now = () => Date.now()): WriteBudget {
  const burst = MAX_WRITES_AT_ONCE * WRITE_INTERVAL_MS;
  /** Used while Redis is unavailable. */
  const local = new Map<string, number>();

  function takeLocally(scope: string): number {
    const paid = Math.max(local.get(scope) ?? 0, now());
    const wait = paid + WRITE_INTERVAL_MS - burst - now();
    if (wait > 0) {
      return wait;
    }
    local.set(scope, paid + WRITE_INTERVAL_MS);
    return 0;
  }

  return {
    async take(scope) {
      const key = `gatehouse:writes:${origin}:${scope}`;
      const time = now();
      const shared = await optionalRedis.run((redis) => redis.eval(TAKE, 1, key, time, WRITE_INTERVAL_MS, burst));
      const wait = shared === undefined ? takeLocally(scope) : Number(shared);
      return wait > 0 ? time + wait : undefined;
    },
  };
}
