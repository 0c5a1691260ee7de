import { FORGES, type ForgeName } from './forges.ts';
import { MAX_PULL_REQUEST_NUMBER, type PullRequestRef } from './pull-request.ts';

/** The addresses of a forge: of its API, of a pull request's page, and of a repository's. */

/** Where a forge's API is, from the address that people use or from the API's own. */
export function apiUrlOf(forge: ForgeName, url: string): string {
  const { path, hosts = {}, subdomainOf } = FORGES[forge].api;
  const { protocol, host, origin, pathname } = new URL(url);
  const elsewhere = Object.hasOwn(hosts, host) ? hosts[host] : undefined;
  if (elsewhere !== undefined) {
    return elsewhere;
  }
  if (subdomainOf !== undefined && host.endsWith(subdomainOf)) {
    return host.startsWith('api.') ? `${protocol}//${host}` : `${protocol}//api.${host}`;
  }
  const base = `${origin}${pathname.replace(/\/+$/, '')}`;
  return base.endsWith(path) ? base : `${base}${path}`;
}

export type AddressedPullRequest =
  | { readonly ok: true; readonly ref: PullRequestRef }
  | { readonly ok: false; readonly reason: string };

/**
 * The pull request of a page's URL on whatever forge; undefined when it is no such page. For commands that ask no
 * forge.
 */
export function pullRequestAt(address: string): PullRequestRef | undefined {
  const words = new Set(Object.values(FORGES).map(({ pullRequestSegment }) => pullRequestSegment));
  const page = new RegExp(`^https?://[^?#]*/([\\w.-]+/[\\w.-]+)/(?:${[...words].join('|')})/(\\d{1,10})(?:[/?#].*)?$`);
  const [, repository = '', digits = ''] = page.exec(address) ?? [];
  const number = Number(digits);
  return number >= 1 && number <= MAX_PULL_REQUEST_NUMBER ? { repository, number } : undefined;
}

/**
 * Finds the pull request of a page's URL, its tabs and anchors included. It must be one of the forge
 * at `forgeUrl`, which may be installed under a path.
 */
export function readPullRequestUrl(forge: ForgeName, forgeUrl: string, address: string): AddressedPullRequest {
  const word = FORGES[forge].pullRequestSegment;
  const example = `${forgeUrl.replace(/\/+$/, '')}/owner/name/${word}/7`;
  if (!URL.canParse(address)) {
    return { ok: false, reason: `"${address}" is not a URL; expected one such as ${example}` };
  }

  const { origin, pathname, protocol } = new URL(address);
  const page = new RegExp(`^(.*?)/([\\w.-]+/[\\w.-]+)/${word}/(\\d{1,10})(?:/.*)?$`);
  const [, base = '', repository = '', digits = ''] = page.exec(pathname) ?? [];
  const number = Number(digits);
  if (!/^https?:$/.test(protocol) || number < 1 || number > MAX_PULL_REQUEST_NUMBER) {
    return { ok: false, reason: `${address} is not a pull request URL; expected one such as ${example}` };
  }
  // FORGE_URL may name the page that people open or the API itself; either way the API is the same.
  if (apiUrlOf(forge, `${origin}${base}`) !== apiUrlOf(forge, forgeUrl)) {
    return {
      ok: false,
      reason: `${address} is not on the configured forge, ${forge} at ${forgeUrl}; set FORGE and FORGE_URL to its own`,
    };
  }
  return { ok: true, ref: { repository, number } };
}

export type AddressedRepository =
  | { readonly ok: true; readonly repository: string }
  | { readonly ok: false; readonly reason: string };

const NAME = /^[\w.-]+\/[\w.-]+$/;

/** A repository as a person names it: `owner/name`, or the address of its page on the forge at `forgeUrl`. */
export function readRepository(forge: ForgeName, forgeUrl: string, text: string): AddressedRepository {
  if (NAME.test(text)) {
    return { ok: true, repository: text };
  }
  const example = `owner/name, or ${forgeUrl.replace(/\/+$/, '')}/owner/name`;
  if (!/^https?:/.test(text) || !URL.canParse(text)) {
    return { ok: false, reason: `"${text}" is not a repository; expected ${example}` };
  }
  const { origin, pathname } = new URL(text);
  const [, base = '', repository] = /^(.*?)\/([\w.-]+\/[\w.-]+?)(?:\.git)?\/?$/.exec(pathname) ?? [];
  if (repository === undefined || apiUrlOf(forge, `${origin}${base}`) !== apiUrlOf(forge, forgeUrl)) {
    return {
      ok: false,
      reason: `${text} is not a repository of the configured forge, ${forge} at ${forgeUrl}; expected ${example}`,
    };
  }
  return { ok: true, repository };
}
