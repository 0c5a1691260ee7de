import { LRUCache } from 'lru-cache';
import type { Forge } from './port/forge.ts';
import { isObjectId } from './text-file.ts';

/** Characters of all files together: policies and CODEOWNERS, of a few kilobytes each. */
const MAX_CHARACTERS = 8_000_000;

/**
 * The forge, with each file at a commit read once, also one that is not there: `fileAt` says so only where the forge
 * knows the commit. By name, a branch's file is always read.
 */
export function rememberFiles(forge: Forge, maxCharacters = MAX_CHARACTERS): Forge {
  /** `text` is null where there is no such file. */
  const files = new LRUCache<string, { readonly text: string | null }>({
    maxSize: maxCharacters,
    sizeCalculation: ({ text }, key) => key.length + (text?.length ?? 0),
  });

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
      const remembered = files.get(key);
      if (remembered !== undefined) {
        return remembered.text ?? undefined;
      }
      const text = await forge.fileAt(repository, path, ref);
      files.set(key, { text: text ?? null });
      return text;
    },
  };
}

function keyOf(repository: string, path: string, commit: string): string {
  return JSON.stringify([repository, path, commit]);
}
