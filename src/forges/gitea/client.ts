import type { z } from 'zod';
import { limitList, parseAnswer, parseJson, requireFound } from '../answer.ts';
import { ForgeError } from '../port/forge-error.ts';
import { MAX_COMMENT_LENGTH } from '../port/postings.ts';
import type { FetchInit, ForgeFetch } from '../transport/forge-fetch.ts';
import type { Differences } from './differences.ts';

/** Gitea's and Forgejo's MAX_RESPONSE_ITEMS as installed; an operator may have set less. */
const PAGE_SIZE = 50;
/** The size of pages where one of {@link PAGE_SIZE} was too large. */
const SMALL_PAGE_SIZE = 10;
const MAX_PAGES = 200;
/** Bytes of the longest string that is needed where no text of people is: of a title, which has 255 characters. */
export const SHORT = 4_096;
/** The same for one of our comments: JSON writes a character as six bytes at most. */
export const OWN_COMMENT = 6 * MAX_COMMENT_LENGTH;
const MAX_QUOTE_LENGTH = 300;

type Query = Readonly<Record<string, string | number>>;

interface Ask {
  readonly query?: Query;
  readonly headers?: Readonly<Record<string, string>>;
  /** Longer strings are not needed, and become empty. */
  readonly maxStringBytes?: number;
}

interface AskPage extends Pick<Ask, 'query' | 'maxStringBytes'> {
  /** 1 is the first, and the default. */
  readonly number?: number;
  readonly size?: number;
  /** How many entries the pages before it had. */
  readonly before?: number;
}

interface AskList<T> extends Pick<Ask, 'query' | 'maxStringBytes'> {
  readonly maxPages?: number;
  /** Whether the list need not be read beyond this page. */
  readonly enough?: (page: readonly T[]) => boolean;
  /** An entry that is too large by itself is left out; without it, the list cannot be read. */
  readonly leaveOutTooLarge?: boolean;
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
}

export interface List<T> extends Pick<Page<T>, 'items' | 'url' | 'date'> {}

/** The documented REST API (`/api/v1`). Every answer is validated. */
export interface GiteaClient {
  /** Undefined when the forge answers 404. */
  ask<T>(path: string, shape: z.ZodType<T>, ask?: Ask): Promise<T | undefined>;
  /** One page of a list; undefined as above. */
  askPage<T>(path: string, shape: z.ZodType<readonly T[]>, ask?: AskPage): Promise<Page<T> | undefined>;
  /** Every page of a list; undefined as above. Where a page is too large, smaller ones are asked for. */
  askAll<T>(path: string, shape: z.ZodType<readonly T[]>, ask?: AskList<T>): Promise<readonly T[] | undefined>;
  /** The same, with the address that the first page came from, after redirects. */
  askList<T>(path: string, shape: z.ZodType<readonly T[]>, ask?: AskList<T>): Promise<List<T> | undefined>;
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
    const said = response.body.slice(0, MAX_QUOTE_LENGTH);
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
    { query, number = 1, size = PAGE_SIZE, before = 0, maxStringBytes }: AskPage,
  ): Promise<Page<T> | undefined> {
    const route = `GET ${resource}`;
    const url = urlOf(resource, { ...query, page: number, limit: size });
    const response = await send(route, url, maxStringBytes === undefined ? {} : { maxStringBytes });
    if (response === undefined) {
      return undefined;
    }
    const items = parseAnswer(shape, parseJson(response.body), route);
    const total = response.headers.get('x-total-count');
    return {
      items,
      total: total === null ? undefined : Number(total),
      isLast: isLastPage(items.length, size, before + items.length, response.headers),
      url: response.url,
      date: dateOf(response.headers.get('date')),
    };
  }

  /**
   * The entries of one small page, one by one. An operator's own maximum of entries in a page is not below that size:
   * the numbers of these pages name the same entries.
   */
  async function askOneByOne<T>(
    resource: string,
    shape: z.ZodType<readonly T[]>,
    { leaveOutTooLarge, query, maxStringBytes }: AskList<T>,
    first: number,
    before: number,
  ): Promise<Page<T> | undefined> {
    const ask = { ...(query && { query }), ...(maxStringBytes !== undefined && { maxStringBytes }) };
    const items: T[] = [];
    let last: Page<T> | undefined;
    for (let index = 0; index < SMALL_PAGE_SIZE && last?.isLast !== true; index += 1) {
      try {
        last = await page(resource, shape, { ...ask, number: first + index, size: 1, before: before + items.length });
      } catch (error) {
        if (!isTooLarge(error) || leaveOutTooLarge !== true) {
          throw error;
        }
        continue;
      }
      if (last === undefined) {
        return undefined;
      }
      items.push(...last.items);
    }
    return { url: '', total: undefined, isLast: false, date: undefined, ...last, items };
  }

  async function askList<T>(resource: string, shape: z.ZodType<readonly T[]>, ask: AskList<T> = {}) {
    const countPage = limitList(`GET ${resource}`, ask.maxPages ?? MAX_PAGES);
    const items: T[] = [];
    let first: Page<T> | undefined;
    let size = PAGE_SIZE;
    for (let number = 1; ; number += 1) {
      let next: Page<T> | undefined;
      try {
        next = await page(resource, shape, { ...ask, number, size, before: items.length });
      } catch (error) {
        if (!isTooLarge(error)) {
          throw error;
        }
        if (size === PAGE_SIZE) {
          // From here on. Some entries are read again where an operator's pages have another size than ours.
          size = SMALL_PAGE_SIZE;
          items.length -= items.length % SMALL_PAGE_SIZE;
          number = items.length / SMALL_PAGE_SIZE;
          continue;
        }
        next = await askOneByOne(resource, shape, ask, (number - 1) * SMALL_PAGE_SIZE + 1, items.length);
      }
      if (next === undefined) {
        return undefined;
      }
      countPage(next.items);
      first ??= next;
      items.push(...next.items);
      if (ask.enough?.(next.items) || next.isLast) {
        return { items, url: first.url, date: first.date };
      }
    }
  }

  return {
    async ask(resource, shape, { query, ...init } = {}) {
      const route = `GET ${resource}`;
      const response = await send(route, urlOf(resource, query), init);
      return response && parseAnswer(shape, parseJson(response.body), route);
    },

    askPage: (resource, shape, ask = {}) => page(resource, shape, ask),

    askList,
    askAll: async (resource, shape, ask) => (await askList(resource, shape, ask))?.items,

    async text(resource, maxBytes) {
      const response = await send(`GET ${resource}`, urlOf(resource), { maxBytes, headers: { accept: 'text/plain' } });
      return response?.body;
    },

    async write(method, resource, body, allowNotFound = false) {
      const route = `${method} ${resource}`;
      const content = body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
      const response = await send(route, urlOf(resource), { method, ...content });
      const found = allowNotFound ? response : requireFound(response, route);
      return parseJson(found?.body ?? '');
    },
  };
}

/**
 * `X-Total-Count` counts entries that are then left out (others' pending reviews), and the page size asked for may
 * have been cut down: so an empty page always ends a list, and a short one only where nothing says otherwise.
 */
function isLastPage(
  onPage: number,
  size: number,
  soFar: number,
  headers: { get(name: string): string | null },
): boolean {
  const total = headers.get('x-total-count');
  if (onPage === 0 || (total !== null && soFar >= Number(total))) {
    return true;
  }
  return total === null && !(headers.get('link') ?? '').includes('rel="next"') && onPage < size;
}

function isTooLarge(error: unknown): boolean {
  return error instanceof ForgeError && error.kind === 'too-large';
}

function dateOf(header: string | null): Date | undefined {
  const time = Date.parse(header ?? '');
  return Number.isNaN(time) ? undefined : new Date(time);
}
