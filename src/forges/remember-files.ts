import type { Forge } from './port/forge.ts';
import { isObjectId } from './text-file.ts';

/** Characters of all files together: policies and CODEOWNERS, of a few kilobytes each. */
const MAX_CHARACTERS = 8_000_000;

/**
 * The forge, but that a file at a commit is read once: it never changes. By name, a branch's file is always read. What `fileAt`
 * does not find is not remembered, for a commit may be known to one server of a forge before another. What a forge says together
 * with the commit is: then it knows the commit.
 */
export function rememberFiles(forge: Forge, maxCharacters = MAX_CHARACTERS): Forge {
  /** The one used longest ago comes first. */
  const files = new Map<string, string | null>();
  let characters = 0;

  function remember(repository: string, path: string, commit: string, text: string | null): void {
    const key = keyOf(repository, path, commit);
    if (files.has(key)) {
      return;
    }
    files.set(key, text);
    characters += key.length + lengthOf(text);
    for (const [oldest, oldText] of files) {
      if (characters <= maxCharacters) {
        return;
      }
      files.delete(oldest);
      characters -= oldest.length + lengthOf(oldText);
    }
  }

  return {
    ...forge,
    async pullRequestWithFacts(ref, paths) {
      const read = await forge.pullRequestWithFacts(ref, paths);
      const commit = read?.pullRequest.baseCommit;
      if (read !== undefined && commit !== undefined) {
        for (const [path, text] of read.files) {
          remember(read.pullRequest.repository, path, commit, text);
        }
      }
      return read;
    },
    async fileAt(repository, path, ref) {
      if (!isObjectId(ref)) {
        return forge.fileAt(repository, path, ref);
      }
      const key = keyOf(repository, path, ref);
      const known = files.get(key);
      if (known !== undefined) {
        files.delete(key);
        files.set(key, known);
        return known ?? undefined;
      }
      const text = await forge.fileAt(repository, path, ref);
      if (text !== undefined) {
        remember(repository, path, ref, text);
      }
      return text;
    },
  };
}

function keyOf(repository: string, path: string, commit: string): string {
  return JSON.stringify([repository, path, commit]);
}

function lengthOf(text: string | null): number {
  return text?.length ?? 0;
}
