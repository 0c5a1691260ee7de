import { ForgeError } from './forge.ts';

/** Policies and CODEOWNERS are small; GitHub itself gives no content above this (1 MiB). */
const MAX_TEXT_BYTES = 1_048_576;

/** A commit's full id, SHA-1 or SHA-256: what is there never changes. */
export function isObjectId(ref: string): boolean {
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(ref);
}

/** The text of what both kinds of forge answer for a path: undefined for a directory, a link or a submodule. */
export function textOfBlob(
  blob: { type: string; encoding?: string | null | undefined; content?: string | null | undefined } | undefined,
  path: string,
): string | undefined {
  if (blob?.type !== 'file') {
    return undefined;
  }
  const content = blob.encoding === 'base64' ? Buffer.from(blob.content ?? '', 'base64') : undefined;
  if (content === undefined || content.byteLength > MAX_TEXT_BYTES) {
    throw new ForgeError('too-large', `${path} is larger than ${MAX_TEXT_BYTES} bytes and is not read`);
  }
  return content.toString('utf8');
}
