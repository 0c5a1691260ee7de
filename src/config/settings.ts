import { z } from 'zod';

/** How the value of an environment variable is written, kind by kind. No message shows a value. */

const MIN_SECRET_CHARACTERS = 16;
const MIB = 1024 * 1024;

export const port = z
  .string()
  .refine((text) => /^\d{1,5}$/.test(text) && Number(text) <= 65_535, 'must be a port number, 0 to 65535')
  .transform(Number);

export const seconds = z
  .string()
  .refine((text) => /^\d{1,4}$/.test(text) && Number(text) <= 3_600, 'must be whole seconds, 0 to 3600')
  .transform(Number);

export const flag = z.enum(['true', 'false']).transform((text) => text === 'true');

export function count(least: number, most: number) {
  return z
    .string()
    .refine(
      (text) => /^\d{1,6}$/.test(text) && Number(text) >= least && Number(text) <= most,
      `must be a whole number, ${least} to ${most}`,
    )
    .transform(Number);
}

const BYTE_UNITS: Readonly<Record<string, number>> = { '': 1, KiB: 1024, MiB: MIB };

export const bytes = z
  .string()
  .transform((text) => {
    const [, digits = '', unit = ''] = /^(\d{1,10})(KiB|MiB)?$/.exec(text) ?? [];
    return digits === '' ? Number.NaN : Number(digits) * (BYTE_UNITS[unit] ?? Number.NaN);
  })
  .refine((size) => size >= 1 && size <= 100 * MIB, 'must be a size from 1 to 100MiB, such as 26214400 or 25MiB');

const MAX_NAMES = 1_000;
const MAX_NAME_CHARACTERS = 200;

/** Names, separated by commas or spaces. */
export const names = z
  .string()
  .transform((text) => text.split(/[\s,]+/).filter((name) => name !== ''))
  .refine(
    (list) => list.length <= MAX_NAMES && list.every((name) => name.length <= MAX_NAME_CHARACTERS),
    `must be at most ${MAX_NAMES} names of at most ${MAX_NAME_CHARACTERS} characters, separated by commas`,
  );

/** White space but for a plain space, whatever else is not seen, and what replaces bytes that are not UTF-8. */
const UNSEEN = /(?! )[\s\p{Cc}\p{Cf}\ufffd]/u;

/** It may be a sentence, with spaces. */
export const secret = z
  .string()
  .refine((text) => text.length >= MIN_SECRET_CHARACTERS, `must have at least ${MIN_SECRET_CHARACTERS} characters`)
  .refine((text) => !UNSEEN.test(text), 'contains a line break or another invisible character');

/** It is sent in a header. */
export const token = z
  .string()
  .regex(/^[\x21-\x7e]*$/, 'contains a space, a line break or another character that tokens can’t have');

/** `path` is what may follow the host; anything may when it is left out. */
export function url(protocols: readonly string[], path = /^/) {
  return z
    .string()
    .refine((text) => !UNSEEN.test(text), {
      error: 'contains a line break or another invisible character: percent-encode it, or remove it',
      abort: true,
    })
    .refine(
      (text) => isUrl(text, protocols),
      `must be a URL with a host, and start with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`,
    )
    .refine((text) => !isUrl(text, protocols) || path.test(new URL(text).pathname), 'has a path that is not allowed');
}

/**
 * The driver takes these modes of libpq for `verify-full`, and warns that a later version will not. It stays that.
 * `uselibpqcompat=true` gives them the meaning that libpq has.
 */
const VERIFIED_MODES: readonly (string | null)[] = ['prefer', 'require', 'verify-ca'];

/** The `sslmode` of a valid address that means `verify-full`. */
export function verifiedMode(text: string): string | undefined {
  const { searchParams } = new URL(text);
  const mode = searchParams.get('sslmode');
  return mode !== null && VERIFIED_MODES.includes(mode) && searchParams.get('uselibpqcompat') !== 'true'
    ? mode
    : undefined;
}

export const databaseUrl = url(['postgres:', 'postgresql:']).transform((text) => {
  if (verifiedMode(text) === undefined) {
    return text;
  }
  const verified = new URL(text);
  verified.searchParams.set('sslmode', 'verify-full');
  return verified.href;
});

function isUrl(text: string, protocols: readonly string[]): boolean {
  if (!URL.canParse(text)) {
    return false;
  }
  const { protocol, host, username, password, pathname } = new URL(text);
  return protocols.includes(protocol) && /^[^,]+$/.test(host) && [username, password, pathname].every(isPercentEncoded);
}

/** Drivers decode these, and a stray percent sign would stop them. */
function isPercentEncoded(text: string): boolean {
  return !/%(?![0-9a-f]{2})/i.test(text);
}

/** The path is the number of a database of Redis; by default there are 16. */
export const redisUrl = url(['redis:', 'rediss:'], /^(\/\d{0,4})?$/);

/** A forge takes 255 characters. With `{base}`, the branch's name needs room. */
const MAX_STATUS_CONTEXT_LENGTH = 200;

export const statusContext = z
  .string()
  .max(MAX_STATUS_CONTEXT_LENGTH, `must have at most ${MAX_STATUS_CONTEXT_LENGTH} characters`)
  .regex(/^[\x20-\x7e]*$/, 'must be printable ASCII')
  .refine((text) => !/[{}]/.test(text.replaceAll('{base}', '')), 'must not have braces other than {base}');

/** A repository's name without its owner, in the characters that the forges allow. */
export const repositoryName = z
  .string()
  .regex(
    /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}$/,
    'must be the name of a repository, without its owner, such as .gatehouse',
  );

export const logLevel = z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']);
