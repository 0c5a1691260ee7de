import { isObject } from '../common/is-object.ts';

const decoder = new TextDecoder('utf-8', { fatal: true });

/**
 * A JSON object, or undefined when the bytes are not one. They must be UTF-8; a byte order mark before
 * them is skipped, as RFC 8259 (section 8.1) allows.
 */
export function parseJsonObject(bytes: Buffer): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(decoder.decode(bytes));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Whether the one Content-Type is `application/json`, with or without parameters. */
export function isJsonType(values: readonly string[] | undefined): boolean {
  const [value, ...more] = values ?? [];
  return more.length === 0 && /^application\/json\s*(;|$)/i.test(value?.trim() ?? '');
}
