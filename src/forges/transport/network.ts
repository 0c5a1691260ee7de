import { Agent, type Dispatcher, interceptors } from 'undici';
import type { OptionalRedis } from '../optional-redis.ts';
import { makeCacheStore } from './cache-store.ts';

const CONNECT_TIMEOUT_MS = 5_000;
/** Sockets to the forge for one process; further requests wait for one. */
const MAX_CONNECTIONS = 32;

type Headers = Record<string, string | string[] | undefined>;

/** What went over the wire for one request, beneath the cache. Nothing, when the cache answered alone. */
export interface Exchange {
  status: number | undefined;
  headers: Headers;
}

export interface Network {
  readonly cached: boolean;
  /** A dispatcher for one request, which fills in `exchange`. Only safe methods may be `cacheable`. */
  dispatcherFor(exchange: Exchange, cacheable: boolean): Dispatcher;
  close(): Promise<void>;
}

export function makeNetwork(optionalRedis: OptionalRedis): Network {
  const agent = new Agent({ connections: MAX_CONNECTIONS, connect: { timeout: CONNECT_TIMEOUT_MS } });
  // Private: an answer is only ever given back to the credential that fetched it (see the store's key).
  const cache = interceptors.cache({ store: makeCacheStore(optionalRedis), type: 'private', methods: ['GET'] });
  return {
    cached: optionalRedis.present,
    dispatcherFor(exchange, cacheable) {
      const watched = agent.compose(watch(exchange));
      return cacheable && optionalRedis.present ? watched.compose(cache) : watched;
    },
    close: () => agent.close(),
  };
}

function watch(exchange: Exchange): Dispatcher.DispatcherComposeInterceptor {
  return (dispatch) => (options, handler) =>
    dispatch(askingByETag(options), {
      onRequestStart: (controller, context) => handler.onRequestStart?.(controller, context),
      onRequestUpgrade: (controller, status, headers, socket) =>
        handler.onRequestUpgrade?.(controller, status, headers, socket),
      onResponseStart: (controller, status, headers, message) => {
        exchange.status = status;
        exchange.headers = headers;
        handler.onResponseStart?.(controller, status, status === 304 ? keepEntry(headers) : headers, message);
      },
      onResponseData: (controller, chunk) => handler.onResponseData?.(controller, chunk),
      onResponseEnd: (controller, trailers) => handler.onResponseEnd?.(controller, trailers),
      onResponseError: (controller, error) => handler.onResponseError?.(controller, error),
      onResponseStarted: () => handler.onResponseStarted?.(),
      onBodySent: (chunk) => handler.onBodySent?.(chunk),
      onRequestSent: () => handler.onRequestSent?.(),
    });
}

/** undici asks by date as well, which RFC 9110 (13.1.3) has a server ignore beside an ETag. Better not to offer it. */
function askingByETag(options: Dispatcher.DispatchOptions): Dispatcher.DispatchOptions {
  const { headers } = options;
  if (headers === null || typeof headers !== 'object' || !('if-none-match' in headers)) {
    return options;
  }
  const { 'if-modified-since': _, ...others } = headers;
  return { ...options, headers: others };
}

/**
 * undici 8.12 drops an entry whenever the 304 that confirms it has a `Cache-Control`, as GitHub's do, and so
 * would fetch every second time in full. The entry is kept, with the directives it came with, unless the
 * forge now forbids storing it.
 */
function keepEntry(headers: Headers): Headers {
  const { 'cache-control': directives, ...others } = headers;
  return /no-store/i.test(String(directives ?? '')) ? headers : others;
}
