import { hiddenAddress } from '../../forges/port/accounts.ts';
import type { Commit } from '../../forges/port/pull-request.ts';
import { MAX_TRAILER_CHARACTERS, trailersOf } from './trailers.ts';

/** Somebody whom a trailer names. */
export interface CoAuthor {
  /** The first commit that names them in this way. */
  readonly sha: string;
  /** The e-mail address in lower case; else the whole value. */
  readonly text: string;
  readonly address?: string;
  /** What the value itself says: `@login`, or the login in an address that a forge gave to hide another one. */
  readonly login?: string;
}

export interface CoAuthors {
  readonly coAuthors: readonly CoAuthor[];
  /** False when there may be more: more than are read, or a message whose trailers are larger than is read. */
  readonly complete: boolean;
}

/** What forges and tools write. A policy can add to it: see Policy.authorTrailers. */
const CO_AUTHOR = 'co-authored-by';
/** Different people whom the messages of one pull request may name. */
const MAX_CO_AUTHORS = 1_000;
/** The limit for all messages together: this runs on the event loop too. */
const MAX_CHARACTERS = 4 * 1024 * 1024;

/** Whom the messages of commits name as their co-authors, each once. `trailers` are keys beside `Co-authored-by`. */
export function coAuthorsOf(commits: readonly Commit[], trailers: readonly string[]): CoAuthors {
  const keys = new Set([CO_AUTHOR, ...trailers.map((key) => key.toLowerCase())]);
  const found = new Map<string, CoAuthor>();
  let complete = true;
  let looked = 0;
  for (const { sha, message } of commits) {
    looked += Math.min(message.length, MAX_TRAILER_CHARACTERS);
    if (looked > MAX_CHARACTERS) {
      return { coAuthors: [...found.values()], complete: false };
    }
    const read = trailersOf(message);
    complete &&= read.complete;
    const named = read.trailers.filter(({ key }) => keys.has(key.toLowerCase()));
    for (const person of named.flatMap(({ value }) => peopleIn(value))) {
      if (found.size >= MAX_CO_AUTHORS && !found.has(person.text)) {
        return { coAuthors: [...found.values()], complete: false };
      }
      found.set(person.text, found.get(person.text) ?? { sha, ...person });
    }
  }
  return { coAuthors: [...found.values()], complete };
}

/** Several where a value has several addresses: each of them made the commit. */
function peopleIn(value: string): readonly Omit<CoAuthor, 'sha'>[] {
  const addresses = [...value.matchAll(/<([^<>]*)>/g)].map(([, address = '']) => address.trim().toLowerCase());
  const named = addresses.filter((address) => address !== '');
  if (named.length > 0) {
    return named.map(ofAddress);
  }
  if (/^[^\s@]+@[^\s@]+$/.test(value)) {
    return [ofAddress(value.toLowerCase())];
  }
  const login = /^@([\w.-]+)$/.exec(value)?.[1];
  return [{ text: value, ...(login === undefined ? {} : { login }) }];
}

function ofAddress(address: string): Omit<CoAuthor, 'sha'> {
  const login = hiddenAddress(address)?.login;
  return { text: address, address, ...(login === undefined ? {} : { login }) };
}
