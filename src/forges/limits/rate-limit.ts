/** GitHub's documents: without a time given, wait at least one minute. */
const UNNAMED_WAIT_MS = 60_000;
const SECONDARY_LIMIT = /secondary rate limit|abuse detection/i;

interface Headers {
  get(name: string): string | null;
}

/**
 * When the rate limit in an answer ends: milliseconds since the epoch, or undefined
 * when the answer has nothing to do with limits.
 *
 * GitHub says 429 or 403; a 403 is a limit when it carries `Retry-After`, has no requests left, or says
 * "secondary rate limit". Gitea and Forgejo set none themselves; a proxy in front of them says 429.
 */
export function rateLimitedUntil(status: number, headers: Headers, body: string, now = Date.now()): number | undefined {
  if (status !== 429 && status !== 403) {
    return undefined;
  }
  const retryAfter = parseRetryAfter(headers.get('retry-after'), now);
  const exhausted = exhaustedUntil(headers);
  const secondary = SECONDARY_LIMIT.test(body);
  if (status === 403 && retryAfter === undefined && exhausted === undefined && !secondary) {
    return undefined;
  }
  return retryAfter ?? exhausted ?? now + UNNAMED_WAIT_MS;
}

/**
 * The same of an answer 200 to GraphQL, which can hold the message of a secondary limit. The primary limit, which is in
 * its headers, is the query's own: whoever asked reads it there.
 */
export function graphqlLimitedUntil(headers: Headers, body: string, now = Date.now()): number | undefined {
  // Parsed only where it may be so: the words can also be in what people wrote.
  return SECONDARY_LIMIT.test(body) && saysSecondaryLimit(body)
    ? (parseRetryAfter(headers.get('retry-after'), now) ?? now + UNNAMED_WAIT_MS)
    : undefined;
}

function saysSecondaryLimit(body: string): boolean {
  try {
    const { errors } = JSON.parse(body);
    return SECONDARY_LIMIT.test(JSON.stringify(errors ?? null));
  } catch {
    return false;
  }
}

/** When the window of an answer that left no further request ends; undefined while some are left. */
export function exhaustedUntil(headers: Headers): number | undefined {
  const reset = parseWhole(headers.get('x-ratelimit-reset'));
  return headers.get('x-ratelimit-remaining') === '0' && reset !== undefined ? reset * 1_000 : undefined;
}

/** What a forge says of its limit with every answer. */
export interface RateLimit {
  /** How many requests a window has; infinite where the forge does not say. */
  readonly limit: number;
  readonly remaining: number;
  /** Milliseconds since the epoch; undefined where the forge does not say until when. */
  readonly resetAt: number | undefined;
}

export function rateLimitOf(headers: Headers): RateLimit | undefined {
  const remaining = parseWhole(headers.get('x-ratelimit-remaining'));
  const reset = parseWhole(headers.get('x-ratelimit-reset'));
  return remaining === undefined
    ? undefined
    : {
        limit: parseWhole(headers.get('x-ratelimit-limit')) ?? Number.POSITIVE_INFINITY,
        remaining,
        resetAt: reset === undefined ? undefined : reset * 1_000,
      };
}

/** RFC 9110: seconds, or a date. */
function parseRetryAfter(value: string | null, now: number): number | undefined {
  const seconds = parseWhole(value);
  if (seconds !== undefined) {
    return now + seconds * 1_000;
  }
  const date = Date.parse(value ?? '');
  return Number.isNaN(date) ? undefined : date;
}

function parseWhole(value: string | null): number | undefined {
  return value !== null && /^\d{1,12}$/.test(value) ? Number(value) : undefined;
}
