import type { z } from 'zod';
import { limitList, parseAnswer, requireFound } from '../answer.ts';
import { ForgeError } from '../port/forge-error.ts';
import type { FetchInit, ForgeFetch } from '../transport/forge-fetch.ts';
import type { Differences } from './differences.ts';

/** Gitea's and Forgejo's MAX_RESPONSE_ITEMS as installed; an operator may have set less. */
const PAGE_SIZE = 50;
const MAX_PAGES = 200;
const MAX_QUOTE_LENGTH = 300;

type Query = Readonly<Record<string, string | number>>;

interface Ask {
  readonly query?: Query;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Page<T> {
  readonly items: readonly T[];
  /** How long the whole list is, where the forge says so. */
  readonly total: number | undefined;
  readonly isLast: boolean;
  /** Where it came from, after redirects. */
  readonly url: string;
  /** The forge's time; undefined where it does not say. */
  readonly date: Date | undefined;
  /** Of its text. */
  readonly bytes: number;
}

export interface List<T> {
  readonly items: readonly T[];
  readonly url: string;
}

/** The documented REST API (`/api/v1`). Every answer is validated. */
export interface GiteaClient {
  /** Undefined when the forge answers 404. */
  ask<T>(path: string, shape: z.ZodType<T>, ask?: Ask): Promise<T | undefined>;
  /**
   * One page of a list, the first by default; undefined as above. `before`: how many entries the pages before it had.
   */
  askPage<T>(
    path: string,
    shape: z.ZodType<readonly T[]>,
    number?: number,
    query?: Query,
    before?: number,
  ): Promise<Page<T> | undefined>;
  /** Every page of a list; undefined as above. */
  askAll<T>(path: string, shape: z.ZodType<readonly T[]>, query?: Query): Promise<readonly T[] | undefined>;
  /** The same, with the address that the first page came from, after redirects. */
  askList<T>(path: string, shape: z.ZodType<readonly T[]>, query?: Query): Promise<List<T> | undefined>;
  /** An answer that is not JSON. */
  text(path: string, maxBytes: number): Promise<string | undefined>;
  /** Throws when the forge answers 404, unless `allowNotFound`. */
  write(method: 'POST' | 'PATCH' | 'DELETE', path: string, body?: object, allowNotFound?: boolean): Promise<unknown>;
}

/** The client as the account that Gatehouse posts with. */
export interface GiteaAccount extends GiteaClient {
  /** The login. */
  self(): Promise<string>;
  readonly differences: Differences;
}

/** Joins path segments, each encoded; a slash inside one stays a slash only where segments are given apart. */
export function path(...segments: readonly (string | number)[]): string {
  return segments.map((segment) => `/${encodeURIComponent(segment)}`).join('');
}

export function makeGiteaClient(forgeFetch: ForgeFetch, apiUrl: string, token: string): GiteaClient {
  const headers = { authorization: `token ${token}`, accept: 'application/json', 'user-agent': 'gatehouse' };

  async function send(route: string, url: string, init: FetchInit = {}) {
    const response = await forgeFetch(url, { ...init, headers: { ...headers, ...init.headers } });
    if (response.status < 300) {
      return response;
    }
    const said = (await response.text()).slice(0, MAX_QUOTE_LENGTH);
    if (response.status === 404) {
      return undefined;
    }
    const kind = response.status === 401 || response.status === 403 ? 'refused' : 'invalid';
    throw new ForgeError(kind, `${route}: the forge answered ${response.status}: ${said}`, {
      status: response.status,
    });
  }

  function urlOf(resource: string, query: Query = {}): string {
    const parameters = new URLSearchParams(
      Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
    );
    return parameters.size > 0 ? `${apiUrl}${resource}?${parameters}` : `${apiUrl}${resource}`;
  }

  /** Pages are counted here and links not followed: not every list has links, and a wrong link cannot redirect us. */
  async function page<T>(
    resource: string,
    shape: z.ZodType<readonly T[]>,
    query: Query,
    number: number,
    before: number,
  ): Promise<Page<T> | undefined> {
    const route = `GET ${resource}`;
    const response = await send(route, urlOf(resource, { ...query, page: number, limit: PAGE_SIZE }));
    if (response === undefined) {
      return undefined;
    }
    const items = parseAnswer(shape, parseJson(await response.text()), route);
    const total = response.headers.get('x-total-count');
    return {
      items,
      total: total === null ? undefined : Number(total),
      isLast: isLastPage(items.length, before + items.length, response.headers),
      url: response.url,
      date: dateOf(response.headers.get('date')),
      bytes: Number(response.headers.get('content-length')),
    };
  }

  async function askList<T>(resource: string, shape: z.ZodType<readonly T[]>, query: Query = {}) {
    const items: T[] = [];
    const countPage = limitList(`GET ${resource}`, MAX_PAGES);
    let url = '';
    for (let number = 1; ; number += 1) {
      const next = await page(resource, shape, query, number, items.length);
      if (next === undefined) {
        return undefined;
      }
      countPage(next.bytes);
      url ||= next.url;
      items.push(...next.items);
      if (next.isLast) {
        return { items, url };
      }
    }
  }

  return {
    async ask(resource, shape, { query, headers: more } = {}) {
      const route = `GET ${resource}`;
      const response = await send(route, urlOf(resource, query), more ? { headers: more } : {});
      return response && parseAnswer(shape, parseJson(await response.text()), route);
    },

    askPage: (resource, shape, number = 1, query = {}, before = 0) => page(resource, shape, query, number, before),

    askList,
    askAll: async (resource, shape, query) => (await askList(resource, shape, query))?.items,

    async text(resource, maxBytes) {
      const response = await send(`GET ${resource}`, urlOf(resource), { maxBytes, headers: { accept: 'text/plain' } });
      return response?.text();
    },

    async write(method, resource, body, allowNotFound = false) {
      const route = `${method} ${resource}`;
      const content = body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
      const response = await send(route, urlOf(resource), { method, ...content });
      const found = allowNotFound ? response : requireFound(response, route);
      return parseJson((await found?.text()) ?? '');
    },
  };
}

/**
 * `X-Total-Count` counts entries that are then left out (others' pending reviews), and the page size asked for may
 * have been cut down: so an empty page always ends a list, and a short one only where nothing says otherwise.
 */
function isLastPage(onPage: number, soFar: number, headers: { get(name: string): string | null }): boolean {
  const total = headers.get('x-total-count');
  if (onPage === 0 || (total !== null && soFar >= Number(total))) {
    return true;
  }
  return total === null && !(headers.get('link') ?? '').includes('rel="next"') && onPage < PAGE_SIZE;
}

function dateOf(header: string | null): Date | undefined {
  const time = Date.parse(header ?? '');
  return Number.isNaN(time) ? undefined : new Date(time);
}

/** Text that is not JSON stays text, which no shape accepts. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
