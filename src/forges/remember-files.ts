import { LRUCache } from 'lru-cache';
import type { Forge } from './port/forge.ts';
import { ForgeError } from './port/forge-error.ts';
import { isObjectId } from './text-file.ts';

/** Characters of all files together: policies and CODEOWNERS, of a few kilobytes each. */
const MAX_CHARACTERS = 8_000_000;

/** What a commit has, it has for good. */
type Remembered =
  /** Null where there is no such file. */
  { readonly text: string | null } | { readonly error: ForgeError };

/** Of the reason why a file cannot be read. */
const REASON_CHARACTERS = 100;

/**
 * The forge, with each file at a commit read once, also one that is not there: `fileAt` says so only where the forge
 * knows the commit; and one that is too large, or no file. By name, a branch's file is always read.
 */
export function rememberFiles(forge: Forge, maxCharacters = MAX_CHARACTERS): Forge {
  const files = new LRUCache<string, Remembered>({
    maxSize: maxCharacters,
    sizeCalculation: (file, key) => key.length + ('error' in file ? REASON_CHARACTERS : (file.text?.length ?? 0)),
  });

  async function readOnce(repository: string, path: string, commit: string): Promise<Remembered> {
    try {
      return { text: (await forge.fileAt(repository, path, commit)) ?? null };
    } catch (error) {
      if (error instanceof ForgeError && (error.kind === 'too-large' || error.kind === 'not-a-file')) {
        return { error };
      }
      throw error;
    }
  }

  return {
    ...forge,
    async pullRequestWithFacts(ref, paths) {
      const read = await forge.pullRequestWithFacts(ref, paths);
      const commit = read?.pullRequest.baseCommit;
      if (read !== undefined && commit !== undefined) {
        for (const [path, text] of read.files) {
          files.set(keyOf(read.pullRequest.repository, path, commit), { text });
        }
      }
      return read;
    },
    async fileAt(repository, path, ref) {
      if (!isObjectId(ref)) {
        return forge.fileAt(repository, path, ref);
      }
      const key = keyOf(repository, path, ref);
      const file = files.get(key) ?? (await readOnce(repository, path, ref));
      files.set(key, file);
      if ('error' in file) {
        throw file.error;
      }
      return file.text ?? undefined;
    },
  };
}

function keyOf(repository: string, path: string, commit: string): string {
  return JSON.stringify([repository, path, commit]);
}
