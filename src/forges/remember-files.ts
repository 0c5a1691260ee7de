import type { Forge } from './forge.ts';
import { isObjectId } from './text-file.ts';

/** Characters of all files together: policies and CODEOWNERS, of a few kilobytes each. */
const MAX_CHARACTERS = 8_000_000;

/**
 * The forge, but that a file at a commit is read once: it never changes. By name, a branch's file is always read. What is not
 * there is not remembered, for a commit may be known to one server of a forge before another.
 */
export function rememberFiles(forge: Forge, maxCharacters = MAX_CHARACTERS): Forge {
  /** The one used longest ago comes first. */
  const files = new Map<string, string>();
  let characters = 0;

  function remember(key: string, text: string): void {
    files.set(key, text);
    characters += key.length + text.length;
    for (const [oldest, oldText] of files) {
      if (characters <= maxCharacters) {
        return;
      }
      files.delete(oldest);
      characters -= oldest.length + oldText.length;
    }
  }

  return {
    ...forge,
    async fileAt(repository, path, ref) {
      if (!isObjectId(ref)) {
        return forge.fileAt(repository, path, ref);
      }
      const key = JSON.stringify([repository, path, ref]);
      const known = files.get(key);
      if (known !== undefined) {
        files.delete(key);
        files.set(key, known);
        return known;
      }
      const text = await forge.fileAt(repository, path, ref);
      if (text !== undefined && !files.has(key)) {
        remember(key, text);
      }
      return text;
    },
  };
}
