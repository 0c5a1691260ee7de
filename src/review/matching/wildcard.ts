/** In a pattern: any characters, and any one. */
export const ANY = Symbol('any characters');
export const ONE = Symbol('any character');

/** Any other is a character of its own. */
export type Token = string | typeof ANY | typeof ONE;

/** Whether the whole of a text matches. Most texts do not, and fail at the ends, which are compared first. */
export function makeWildcard(tokens: readonly Token[]): (text: string) => boolean {
  const first = tokens.findIndex((token) => typeof token !== 'string');
  if (first === -1) {
    const literal = tokens.join('');
    return (text) => text === literal;
  }
  const end = tokens.findLastIndex((token) => typeof token !== 'string') + 1;
  const prefix = tokens.slice(0, first).join('');
  const suffix = tokens.slice(end).join('');
  const matchesMiddle = makeMiddle(tokens.slice(first, end));
  return (text) =>
    text.length >= prefix.length + suffix.length &&
    text.endsWith(suffix) &&
    text.startsWith(prefix) &&
    matchesMiddle(text.slice(prefix.length, text.length - suffix.length));
}

/** Each part is taken where it first fits after the one before: that leaves most to the others. */
function makeMiddle(tokens: readonly Token[]): (text: string) => boolean {
  if (tokens.includes(ONE)) {
    return (text) => matchesAll(tokens, [...text]);
  }
  const parts: string[] = [];
  for (const token of tokens) {
    if (token === ANY) {
      parts.push('');
    } else {
      parts[parts.length - 1] += String(token);
    }
  }
  return (text) => {
    let at = 0;
    return parts.every((part) => {
      const found = text.indexOf(part, at);
      at = found + part.length;
      return found !== -1;
    });
  };
}

/** The same where some characters may be any. Only the last {@link ANY} ever has to take more. */
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
