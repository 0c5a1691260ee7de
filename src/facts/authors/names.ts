/** Matches a name as people wrote it, in any case, with `*` for any characters: `renovate[bot]`, `*[bot]`, `size/*`. */
export function compileName(name: string): { matches(text: string): boolean } {
  const [first = '', ...inner] = name.toLowerCase().split('*');
  const last = inner.pop();
  return {
    matches(text) {
      const lower = text.toLowerCase();
      if (last === undefined) {
        return lower === first;
      }
      const end = lower.length - last.length;
      let at = lower.startsWith(first) && lower.endsWith(last) ? first.length : Number.POSITIVE_INFINITY;
      for (const part of inner) {
        const found = lower.indexOf(part, at);
        at = found === -1 ? Number.POSITIVE_INFINITY : found + part.length;
      }
      return at <= end;
    },
  };
}

/** Somebody in a commit: see Author. */
export interface Named {
  readonly as: 'author' | 'committer' | 'co-author' | 'pusher';
  /** Null where no account is known. */
  readonly login: string | null;
  /** The e-mail address; of a trailer without one, its text; of a pusher the login. */
  readonly named: string;
}

/**
 * Whether names in a policy are those of somebody. A name with `@` is one of an e-mail address without a known account,
 * any other one is a login: git takes any text as an address, so that an address must not pass for a login. A co-author
 * may be a text without an address, such as the name of a program, and is then matched as a login is.
 */
export function namesPeople(names: readonly string[]): (person: Named) => boolean {
  const matchers = names.map(compileName);
  const ofAddresses = names.filter((name) => name.includes('@')).map(compileName);
  return ({ as, login, named }) => {
    const isAddress = login === null && (as !== 'co-author' || named.includes('@'));
    return (isAddress ? ofAddresses : matchers).some((name) => name.matches(login ?? named));
  };
}
