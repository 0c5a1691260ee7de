import { setTimeout as sleep } from 'node:timers/promises';
import { type Dispatcher, errors, Headers, request } from 'undici';
import type { Pause } from '../limits/pause.ts';
import {
  exhaustedUntil,
  graphqlLimitedUntil,
  type RateLimit,
  rateLimitedUntil,
  rateLimitOf,
} from '../limits/rate-limit.ts';
import type { Turns } from '../limits/turns.ts';
import { ForgeError } from '../port/forge-error.ts';
import type { ForgeName } from '../port/forges.ts';
import { ACCEPTED_ENCODING, readBounded } from './bounded-body.ts';
import type { ForgeClock } from './clock.ts';

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

/**
 * Requests left of the primary limit from which on nothing is read: they are for statuses, so that a success that may
 * not hold any more can be taken back. At most a tenth of the limit, where an operator has set a small one.
 */
const KEPT_FOR_STATUSES = 100;

/** GitHub counts points of GraphQL queries apart from REST requests. Secondary limits are common to both. */
export type Api = 'rest' | 'graphql';

/** A request, or one of the requests that a redirect or a retry makes of it. */
export interface SeenRequest {
  readonly forge: ForgeName;
  readonly method: string;
  readonly url: URL;
  /** `none`: no answer came. */
  readonly status: number | 'none';
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
 * A request with a time limit, redirects, retries and the rate limits. It throws {@link ForgeError} when
 * there is no usable answer (network, time-out, 5xx, a rate limit, another host); 2xx and other 4xx are the caller's to
 * judge.
 */
export type ForgeFetch = (url: string | URL, init?: FetchInit) => Promise<ForgeAnswer>;

export interface ForgeFetchDeps {
  readonly forge: ForgeName;
  /** The only origin ever asked. */
  readonly origin: string;
  readonly dispatcher: Dispatcher;
  readonly pause: Pause;
  readonly hooks: ForgeHooks;
  readonly clock?: ForgeClock;
  /** Absent where the forge does not limit comments. */
  readonly turns?: Turns;
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
    return deps.turns !== undefined && isComment(call) ? deps.turns.take(scope, () => repeat(call)) : repeat(call);
  };

  async function repeat(call: Call): Promise<ForgeAnswer> {
    await waitForPause(call);
    const limit = AbortSignal.timeout(limitMs);
    const signal = call.signal ? AbortSignal.any([limit, call.signal]) : limit;
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
  }

  async function waitForPause(call: Call): Promise<void> {
    const limits = mayUseAll(call) ? [call.api, 'secondary'] : [call.api, 'secondary', keptOf(call.api)];
    const pauses = await Promise.all(limits.map((limit) => deps.pause.pausedUntil(`${scope}:${limit}`)));
    const until = Math.max(...pauses.map((end) => end ?? 0));
    if (until === 0) {
      return;
    }
    if (until - Date.now() > MAX_WAIT_MS) {
      throw limited(call, until);
    }
    await sleep(Math.max(0, until - Date.now()));
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
    deps.hooks.onWillRequest?.();
    let status: number | 'none' = 'none';
    const startedAt = performance.now();
    try {
      const sent = await request(call.url, {
        method: call.method,
        headers: { 'accept-encoding': ACCEPTED_ENCODING, ...call.headers },
        body: call.body ?? null,
        signal: call.signal ?? null,
        dispatcher: deps.dispatcher,
      });
      const headers = headersOf(sent.headers);
      // Only then: a body that nobody reads ends the process with its error.
      const body = await readBounded(sent, { maxBytes: MAX_ANSWER_BYTES, ...call }).finally(() =>
        noticeLimits(call, headers),
      );
      status = sent.statusCode;
      return await judged(call, status, headers, body);
    } catch (error) {
      throw error instanceof ForgeError ? error : noAnswer(call, error);
    } finally {
      deps.hooks.onRequest?.({
        forge: deps.forge,
        method: call.method,
        url: call.url,
        status,
        durationMs: performance.now() - startedAt,
      });
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
      const limit = exhaustedUntil(headers) === undefined ? 'secondary' : call.api;
      throw limited(call, await deps.pause.pauseUntil(`${scope}:${limit}`, until), status);
    }
    if (status >= 500) {
      throw failure('unavailable', call, `answered ${status}`, { status });
    }
    return { status, url: call.url.href, headers, body: status >= 400 ? withoutCredential(call, text) : text };
  }

  async function noticeLimits(call: Call, headers: Headers): Promise<void> {
    deps.clock?.note(headers.get('date') ?? undefined, performance.now());
    const rateLimit = rateLimitOf(headers);
    // The App's own limit is in the answer with a token, and not that of the installation.
    if (rateLimit === undefined || isForToken(call)) {
      return;
    }
    deps.hooks.onRateLimit?.({ forge: deps.forge, api: call.api, ...rateLimit });
    const { limit, remaining, resetAt = 0 } = rateLimit;
    if (resetAt > Date.now() && remaining <= Math.min(KEPT_FOR_STATUSES, limit / 10)) {
      const used = remaining === 0 ? call.api : keptOf(call.api);
      await deps.pause.pauseUntil(`${scope}:${used}`, resetAt);
    }
  }
}

/** What is left of a limit for those that {@link mayUseAll} of it. */
function keptOf(api: Api): string {
  return `${api}-kept`;
}

/** Statuses, and what they are signed with. */
function mayUseAll(call: Call): boolean {
  return IS_STATUS.test(call.url.pathname) || isForToken(call);
}

/** Asks for the token of an App's installation. */
function isForToken({ url }: Call): boolean {
  return url.pathname.endsWith('/access_tokens');
}

/** Whatever is written that is no status. GraphQL only reads. */
function isComment(call: Call): boolean {
  return !SAFE_METHODS.has(call.method) && call.api === 'rest' && !mayUseAll(call);
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
  if (cause instanceof errors.InvalidArgumentError) {
    // Only the credential's header has another text than ours. Nothing left the process, and nothing will.
    return failure('refused', call, `was not asked, because the request cannot be sent: ${cause.message}`, { cause });
  }
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
