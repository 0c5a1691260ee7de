/** Which accounts the e-mail addresses in commits belong to. */

/** An e-mail address in lower case, and a commit whose message names it. */
export interface NamedAddress {
  readonly address: string;
  readonly sha: string;
}

/** Logins by e-mail address in lower case; null where the forge knows no account. What is not here was not told. */
export type Accounts = ReadonlyMap<string, string | null>;

/** What forges call every account that was deleted, in lower case. Two of them may have been different people. */
export const GHOST = 'ghost';

/** What an address says that a forge gave to hide another one. */
export interface HiddenAddress {
  readonly login: string;
  /** The account's number; absent in those of older accounts. A login can be changed, and this not. */
  readonly id?: string;
  readonly domain: string;
}

/** `1234+login@users.noreply.github.com`, or `noreply.` with a host on Gitea and Forgejo; undefined for any other. */
export function hiddenAddress(address: string): HiddenAddress | undefined {
  const found = /^(?:(\d+)\+)?([\w.-]+(?:\[bot\])?)@((?:users\.)?noreply\.[^\s@]+)$/i.exec(address);
  const [, id, login, domain] = found ?? [];
  return login === undefined || domain === undefined
    ? undefined
    : { login, domain: domain.toLowerCase(), ...(id === undefined ? {} : { id }) };
}
