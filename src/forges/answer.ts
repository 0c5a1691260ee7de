import { z } from 'zod';
import type { Access } from './port/access.ts';
import { ForgeError } from './port/forge-error.ts';

const MAYBE_LARGE = /\d{16}/;
const LARGE = /^-?\d{16,20}$/;

/**
 * What a text says as JSON; the text where it is none, which no shape accepts. An integer that a double cannot hold
 * becomes a bigint.
 */
export function parseJson(text: string): unknown {
  try {
    // With a function for each value it takes ten times as long.
    return MAYBE_LARGE.test(text) ? JSON.parse(text, exact) : JSON.parse(text);
  } catch {
    return text;
  }
}

function exact(_key: string, value: unknown, { source = '' }: { readonly source?: string } = {}): unknown {
  return typeof value === 'number' && !Number.isSafeInteger(value) && LARGE.test(source) ? BigInt(source) : value;
}

/** The part of an answer that is used, or a {@link ForgeError} that says where it is not as documented. */
export function parseAnswer<T>(shape: z.ZodType<T>, answer: unknown, route: string): T {
  const result = shape.safeParse(answer);
  if (result.success) {
    return result.data;
  }
  const what =
    typeof answer === 'string' ? 'text instead of JSON' : z.prettifyError(result.error).replaceAll(/\s+/g, ' ');
  throw new ForgeError('unavailable', `${route}: unexpected answer from the forge: ${what.slice(0, 300)}`);
}

/** For what must exist: `undefined` means that the forge answered 404. */
export function requireFound<T>(answer: T | undefined, route: string): T {
  if (answer === undefined) {
    throw new ForgeError('invalid', `${route}: not found, or not visible with these credentials`, {
      status: 404,
    });
  }
  return answer;
}

/** A time in an answer of a forge, in milliseconds since 1970. */
export function timeOf(time: string, route: string): number {
  const parsed = Date.parse(time);
  if (Number.isNaN(parsed)) {
    throw new ForgeError('unavailable', `${route}: unexpected answer from the forge: a time that cannot be read`);
  }
  return parsed;
}

/** Ids can be larger than a double holds: {@link parseJson} then gives a bigint. Ours are text. */
export const id = z.union([z.number().int(), z.bigint()]).transform(String);

/**
 * What every forge answers to an accepted write. An HTML page that a proxy sends with status 200
 * must not count as one: the write would never happen.
 */
export const acceptedWrite = z.object({ id });

/** The limit for what is kept of all pages of a list together (16 Mi): messages of commits can have any size. */
const MAX_LIST_CHARACTERS = 16_777_216;

/**
 * Counts the pages of a list, by what was kept of each. The function it returns throws when they are more than is read.
 */
export function limitList(route: string, maxPages: number): (items: readonly unknown[]) => void {
  let pages = 0;
  let characters = 0;
  return (items) => {
    pages += 1;
    characters += JSON.stringify(items).length;
    if (pages > maxPages || characters > MAX_LIST_CHARACTERS) {
      const limit = pages > maxPages ? `${maxPages} pages` : `${MAX_LIST_CHARACTERS} characters`;
      throw new ForgeError('too-large', `${route}: the list has more than ${limit}`);
    }
  };
}

/**
 * The result of a check that returns what is missing, or throws what the forge answered. A rate limit says nothing
 * about the credentials, so that error is thrown on.
 */
export async function accessBy(missingScopes: () => Promise<readonly string[]>): Promise<Access> {
  try {
    const scopes = await missingScopes();
    return scopes.length === 0 ? { kind: 'granted' } : { kind: 'missing-scope', scopes };
  } catch (error) {
    if (!(error instanceof ForgeError) || error.kind === 'rate-limited') {
      throw error;
    }
    return { kind: error.kind === 'refused' ? 'not-accepted' : 'unreachable', reason: error.message };
  }
}
