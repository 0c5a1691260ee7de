import { apiUrlOf } from './api-url.ts';
import type { ForgeName } from './forges.ts';

export type AddressedRepository =
  | { readonly ok: true; readonly repository: string }
  | { readonly ok: false; readonly reason: string };

const NAME = /^[\w.-]+\/[\w.-]+$/;

/** A repository as a person names it: `owner/name`, or the address of its page on the forge at `forgeUrl`. */
export function readRepository(forge: ForgeName, forgeUrl: string, given: string): AddressedRepository {
  if (NAME.test(given)) {
    return { ok: true, repository: given };
  }
  const example = `owner/name, or ${forgeUrl.replace(/\/+$/, '')}/owner/name`;
  if (!/^https?:/.test(given) || !URL.canParse(given)) {
    return { ok: false, reason: `"${given}" is not a repository; one looks like ${example}` };
  }
  const { origin, pathname } = new URL(given);
  const [, base = '', repository] = /^(.*?)\/([\w.-]+\/[\w.-]+?)(?:\.git)?\/?$/.exec(pathname) ?? [];
  if (repository === undefined || apiUrlOf(forge, `${origin}${base}`) !== apiUrlOf(forge, forgeUrl)) {
    return {
      ok: false,
      reason: `${given} is not a repository of the configured forge, ${forge} at ${forgeUrl}; one looks like ${example}`,
    };
  }
  return { ok: true, repository };
}
