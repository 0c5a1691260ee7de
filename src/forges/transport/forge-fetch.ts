import { setTimeout as sleep } from 'node:timers/promises';
import { Headers, request } from 'undici';
import {
  exhaustedUntil,
  graphqlLimitedUntil,
  type RateLimit,
  rateLimitedUntil,
  rateLimitOf,
} from '../limits/rate-limit.ts';
import { takeRequest } from '../limits/spending.ts';
import type { Pause, WriteBudget } from '../limits/waits.ts';
import { ForgeError } from '../port/forge-error.ts';
import type { ForgeName } from '../port/forges.ts';
import { ACCEPTED_ENCODING, readBounded } from './bounded-body.ts';
import type { ForgeClock } from './clock.ts';
import type { Exchange, Network } from './network.ts';

/** From the first byte sent to the last byte read, redirects and the one retry included. */
const REQUEST_TIMEOUT_MS = 10_000;
/** The longest wait for a rate limit inside a request. For a longer wait the job is rescheduled. */
const MAX_WAIT_MS = 2_000;
/** No answer is read beyond this, unless its reader asks for less. */
const MAX_ANSWER_BYTES = 33_554_432;

const MAX_ATTEMPTS = 2;
const RETRY_PAUSE_MS = 200;
const MAX_REDIRECTS = 3;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const SAFE_METHODS = new Set(['GET', 'HEAD']);
/** Each of our PATCH, PUT and DELETE requests sets or removes one whole thing: they are idempotent. A POST is not. */
const REPEATABLE_METHODS = new Set([...SAFE_METHODS, 'PUT', 'PATCH', 'DELETE']);

/** The path that a commit status is posted to. */
const IS_STATUS = /\/statuses\/[^/]+$/;

/** A byte order mark is no part of the text, as of that of `fetch`. */
const UTF8 = new TextDecoder();

/** Sent with what cannot change (a file at a commit): an answer up to an hour old needs no asking. */
export const UNCHANGING = 'max-stale=3600';
/** Sent with everything else: the cache asks the forge each time, and gains when the answer is 304. */
const ASK_ALWAYS = 'no-cache';

/** GitHub counts points of GraphQL queries apart from REST requests. Secondary limits are common to both. */
export type Api = 'rest' | 'graphql';

/** A request, or one of the requests that a redirect or a retry makes of it. */
export interface SeenRequest {
  readonly forge: ForgeName;
  readonly method: string;
  readonly url: URL;
  /** `none`: no answer came. */
  readonly status: number | 'none';
  /** `off`: not cacheable, or no Redis. */
  readonly cache: 'hit' | 'revalidated' | 'miss' | 'off';
  readonly durationMs: number;
}

export interface ForgeHooks {
  /** Before each exchange. It prevents it by throwing. */
  onWillRequest?(): void;
  /** After each exchange. */
  onRequest?(seen: SeenRequest): void;
  onRateLimit?(seen: { forge: ForgeName; api: Api } & RateLimit): void;
}

export interface FetchInit {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal;
  readonly maxBytes?: number;
  /** For an answer in JSON: longer strings are not needed, and become empty. They do not count as bytes of it. */
  readonly maxStringBytes?: number;
}

/** An answer that was read whole. */
export interface ForgeAnswer {
  readonly status: number;
  /** After redirects. */
  readonly url: string;
  /** Those of the body say how it was sent, and are left out. */
  readonly headers: Headers;
  /** Decoded. Empty where the answer has none. */
  readonly body: string;
}

/**
 * A request with a time limit, redirects, retries, the rate limit and the cache. It throws {@link ForgeError} when
 * there is no usable answer (network, time-out, 5xx, a rate limit, another host); 2xx and other 4xx are the caller's to
 * judge.
 */
export type ForgeFetch = (url: string | URL, init?: FetchInit) => Promise<ForgeAnswer>;

export interface ForgeFetchDeps {
  readonly forge: ForgeName;
  /** The only origin ever asked. */
  readonly origin: string;
  readonly network: Network;
  readonly pause: Pause;
  readonly hooks: ForgeHooks;
  readonly clock?: ForgeClock;
  /** Absent where the forge limits no writes. */
  readonly writeBudget?: WriteBudget;
  /** {@link ForgeDeps.patience} */
  readonly patience?: number;
}

/** `scope` is what the forge counts requests by, see {@link Pause}. */
export function makeForgeFetch(deps: ForgeFetchDeps, scope: string): ForgeFetch {
  const limitMs = REQUEST_TIMEOUT_MS * (deps.patience ?? 1);

  return async (url, init = {}) => {
    const target = new URL(url);
    const api = target.pathname.endsWith('/graphql') ? 'graphql' : 'rest';
    const call: Call = { ...init, url: target, api, method: init.method ?? 'GET', limitMs };
    await waitForPause(call);
    await waitForBudget(call);
    const limit = AbortSignal.timeout(limitMs);
    const signal = init.signal ? AbortSignal.any([limit, init.signal]) : limit;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await follow({ ...call, signal });
      } catch (error) {
        if (attempt === MAX_ATTEMPTS || signal.aborted || !worthRepeating(error, call.method)) {
          throw error;
        }
        await sleep(RETRY_PAUSE_MS * (0.5 + Math.random()));
        await waitForPause(call);
      }
    }
  };

  async function waitForPause(call: Call): Promise<void> {
    const scopes = call.api === 'graphql' ? [scope, ownScope(call)] : [scope];
    const pauses = await Promise.all(scopes.map((paused) => deps.pause.pausedUntil(paused)));
    const until = Math.max(...pauses.map((end) => end ?? 0));
    if (until === 0) {
      return;
    }
    if (until - Date.now() > MAX_WAIT_MS) {
      throw limited(call, until);
    }
    await sleep(Math.max(0, until - Date.now()));
  }

  /** What the primary limit of this API is counted by. */
  function ownScope({ api }: Call): string {
    return api === 'graphql' ? `${scope}:graphql` : scope;
  }

  /**
   * Only with a {@link WriteBudget}, and only writes: every GraphQL query reads. Whoever waits here for long comes back
   * as a job.
   */
  async function waitForBudget(call: Call): Promise<void> {
    const isRead = SAFE_METHODS.has(call.method) || call.api === 'graphql';
    if (isRead || call.url.pathname.endsWith('/access_tokens')) {
      return;
    }
    const kind = IS_STATUS.test(call.url.pathname) ? 'status' : 'other';
    const take = () => deps.writeBudget?.take(scope, kind);
    for (let until = await take(); until !== undefined; until = await take()) {
      if (until - Date.now() > MAX_WAIT_MS) {
        throw limited(call, until);
      }
      await sleep(Math.max(0, until - Date.now()));
    }
  }

  async function follow(call: Call): Promise<ForgeAnswer> {
    let { url } = call;
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
      const response = await exchangeOnce({ ...call, url });
      if (!REDIRECTS.has(response.status)) {
        return response;
      }
      const next = URL.parse(response.headers.get('location') ?? '', url.href);
      if (next === null) {
        throw failure('unavailable', call, 'redirected to an invalid URL');
      }
      // 307 and 308 say: the same again, over there. 301, Gitea's answer for a repository that was renamed, says
      // nothing of the method (RFC 9110, 15.4.2): the caller has to read the repository again, and write under its new
      // name.
      if (next.origin === deps.origin && !SAFE_METHODS.has(call.method) && response.status < 307) {
        const what = `answered ${response.status} to a write: what it is about has another address now`;
        throw failure('unavailable', call, what, { status: response.status });
      }
      url = next;
    }
    throw failure('unavailable', call, `redirected more than ${MAX_REDIRECTS} times`);
  }

  async function exchangeOnce(call: Call): Promise<ForgeAnswer> {
    if (call.url.origin !== deps.origin) {
      // A request to another host would send the credential along.
      throw failure('unavailable', call, `pointed to another host (${call.url.host}), which is not allowed`);
    }
    takeRequest(call.url.pathname);
    const cacheable = SAFE_METHODS.has(call.method);
    deps.hooks.onWillRequest?.();
    const exchange: Exchange = { status: undefined, headers: {} };
    let status: number | 'none' = 'none';
    const startedAt = performance.now();
    try {
      const sent = await request(call.url, {
        method: call.method,
        headers: { 'cache-control': ASK_ALWAYS, 'accept-encoding': ACCEPTED_ENCODING, ...call.headers },
        body: call.body ?? null,
        signal: call.signal ?? null,
        dispatcher: deps.network.dispatcherFor(exchange, cacheable),
      });
      const body = await readBounded(sent, { maxBytes: MAX_ANSWER_BYTES, ...call });
      status = sent.statusCode;
      return await judged(call, status, headersOf(sent.headers), body);
    } catch (error) {
      throw error instanceof ForgeError ? error : noAnswer(call, error);
    } finally {
      deps.hooks.onRequest?.({
        forge: deps.forge,
        method: call.method,
        url: call.url,
        status,
        cache: outcome(exchange, status, cacheable),
        durationMs: performance.now() - startedAt,
      });
      await noticeLimits(call, exchange);
    }
  }

  async function judged(call: Call, status: number, headers: Headers, body: Buffer | undefined): Promise<ForgeAnswer> {
    if (body === undefined) {
      throw failure('too-large', call, 'sent an answer that is too large', { status });
    }
    const text = UTF8.decode(body);
    const until =
      rateLimitedUntil(status, headers, text.slice(0, 2_000)) ??
      (call.api === 'graphql' ? graphqlLimitedUntil(headers, text) : undefined);
    if (until !== undefined) {
      const limitedScope = exhaustedUntil(headers) === undefined ? scope : ownScope(call);
      throw limited(call, await deps.pause.pauseUntil(limitedScope, until), status);
    }
    if (status >= 500) {
      throw failure('unavailable', call, `answered ${status}`, { status });
    }
    return { status, url: call.url.href, headers, body: status >= 400 ? withoutCredential(call, text) : text };
  }

  function outcome(exchange: Exchange, status: number | 'none', cacheable: boolean): SeenRequest['cache'] {
    if (!cacheable || !deps.network.cached) {
      return 'off';
    }
    if (exchange.status === undefined && status !== 'none') {
      return 'hit';
    }
    return exchange.status === 304 ? 'revalidated' : 'miss';
  }

  /** Read off the wire: a cached answer repeats the numbers of when it was fetched. */
  async function noticeLimits(call: Call, exchange: Exchange): Promise<void> {
    deps.clock?.note(exchange.headers['date']?.toString(), performance.now());
    const headers = { get: (name: string) => exchange.headers[name]?.toString() ?? null };
    const rateLimit = rateLimitOf(headers);
    if (rateLimit !== undefined) {
      deps.hooks.onRateLimit?.({ forge: deps.forge, api: call.api, ...rateLimit });
    }
    const until = exhaustedUntil(headers);
    if (until !== undefined && until > Date.now()) {
      await deps.pause.pauseUntil(ownScope(call), until);
    }
  }
}

interface Call extends FetchInit {
  readonly url: URL;
  readonly method: string;
  readonly api: Api;
  readonly limitMs: number;
}

function worthRepeating(error: unknown, method: string): boolean {
  if (!(error instanceof ForgeError)) {
    return false;
  }
  if (error.kind === 'rate-limited') {
    // A rate limited request was not executed, so even a POST may be sent again.
    return (error.retryAt ?? Number.POSITIVE_INFINITY) - Date.now() <= MAX_WAIT_MS;
  }
  return error.kind === 'unavailable' && REPEATABLE_METHODS.has(method);
}

function limited(call: Call, retryAt: number, status?: number): ForgeError {
  const until = new Date(retryAt).toISOString();
  return failure('rate-limited', call, `must wait until ${until}`, status ? { retryAt, status } : { retryAt });
}

function noAnswer(call: Call, cause: unknown): ForgeError {
  const timedOut = cause instanceof Error && cause.name === 'TimeoutError';
  const what = timedOut
    ? `did not answer in full within ${call.limitMs} ms`
    : 'could not be reached, or closed the connection';
  return failure('unavailable', call, what, { cause });
}

/** Names only the method and the path: a query may hold private data. */
function failure(
  kind: ForgeError['kind'],
  call: Call,
  what: string,
  options: { cause?: unknown; status?: number; retryAt?: number } = {},
): ForgeError {
  return new ForgeError(kind, `${call.method} ${call.url.pathname}: the forge ${what}`, options);
}

/** The forge's error text is shown to users; one that repeats the request's header must not leak the credential. */
function withoutCredential(call: Call, text: string): string {
  const credential = call.headers?.['authorization']?.split(' ').at(-1);
  return credential ? text.replaceAll(credential, '[redacted]') : text;
}

/** Without those that say how the body was sent: it has been decoded and measured. */
function headersOf(sent: Readonly<Record<string, string | string[] | undefined>>): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(sent)) {
    if (name !== 'content-encoding' && name !== 'content-length') {
      for (const each of [value ?? []].flat()) {
        headers.append(name, each);
      }
    }
  }
  return headers;
}
