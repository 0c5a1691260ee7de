/** In a pattern: any characters, and any one. */
export const ANY = Symbol('any characters');
export const ONE = Symbol('any character');

/** Any other is a character of its own. */
export type Token = string | typeof ANY | typeof ONE;

const isLiteral = (token: Token) => typeof token === 'string';

/** Whether the whole of a text matches. Most texts do not, and fail at the ends, which are compared first. */
export function makeWildcard(tokens: readonly Token[]): (text: string) => boolean {
  const first = tokens.findIndex((token) => !isLiteral(token));
  if (first === -1) {
    const literal = tokens.join('');
    return (text) => text === literal;
  }
  const end = tokens.findLastIndex((token) => !isLiteral(token)) + 1;
  const [prefix, suffix] = [tokens.slice(0, first), tokens.slice(end)].map((ends) => ends.join('')) as [string, string];
  const middle = tokens.slice(first, end);
  const isAny = middle.length === 1 && middle[0] === ANY;
  return (text) =>
    text.length >= prefix.length + suffix.length &&
    text.endsWith(suffix) &&
    text.startsWith(prefix) &&
    (isAny || matchesAll(middle, [...text.slice(prefix.length, text.length - suffix.length)]));
}

/**
 * Each run of tokens takes the first place where it fits after the one before, so that only the last {@link ANY} has
 * to be tried again: never more than tokens × characters.
 */
function matchesAll(tokens: readonly Token[], characters: readonly string[]): boolean {
  let token = 0;
  let any = -1;
  let taken = 0;
  for (let at = 0; at < characters.length; ) {
    if (tokens[token] === ANY) {
      any = token;
      taken = at;
      token += 1;
    } else if (tokens[token] === ONE || tokens[token] === characters[at]) {
      token += 1;
      at += 1;
    } else if (any === -1) {
      return false;
    } else {
      taken += 1;
      at = taken;
      token = any + 1;
    }
  }
  return tokens.slice(token).every((left) => left === ANY);
}
