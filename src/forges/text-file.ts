import { ForgeError } from './port/forge-error.ts';
import { MAX_CODE_OWNERS_BYTES } from './port/forges.ts';

/** Policies are small, and GitHub's contents API gives no content above this (1 MiB). */
const MAX_TEXT_BYTES = 1_048_576;

/** How large a file may be that is read. */
export function maxBytesOf(path: string): number {
  return /(?:^|\/)CODEOWNERS$/.test(path) ? MAX_CODE_OWNERS_BYTES : MAX_TEXT_BYTES;
}

/** A commit's full id, SHA-1 or SHA-256: what is there never changes. */
export function isObjectId(ref: string): boolean {
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(ref);
}

/** As both kinds of forge call what is at a path. GitHub answers a link to a file of the repository with that file. */
const NOT_FILES: Readonly<Record<string, string>> = {
  dir: 'a directory',
  symlink: 'a symbolic link',
  submodule: 'a submodule',
};

interface Blob {
  readonly type: string;
  readonly encoding?: string | null | undefined;
  readonly content?: string | null | undefined;
  /** In bytes. */
  readonly size?: number | undefined;
}

/** The text of what both kinds of forge answer for a path; undefined when there is nothing. */
export function textOfBlob(blob: Blob | undefined, path: string): string | undefined {
  if (blob === undefined) {
    return undefined;
  }
  if (blob.type !== 'file') {
    throw new ForgeError('not-a-file', `${path} is ${NOT_FILES[blob.type] ?? 'not a file'}`);
  }
  const { encoding, content: text, size = 0 } = blob;
  // What is not shown is empty in some answers: only an empty file has no text.
  const isShown = encoding === 'base64' && typeof text === 'string' && (text !== '' || size === 0);
  const content = isShown ? Buffer.from(text, 'base64') : undefined;
  if (content === undefined || content.byteLength > maxBytesOf(path)) {
    throw new ForgeError(
      'too-large',
      `${path} is larger than ${maxBytesOf(path)} bytes, or than the forge’s own limit, and is not read`,
    );
  }
  return content.toString('utf8');
}
