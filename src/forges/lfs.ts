import { parseHunkHeader } from '../hunk-header.ts';

/** The first line of a pointer file (https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md), and of its old form. */
const VERSION = /^version https:\/\/(?:git-lfs|hawser)\.github\.com\/spec\/v1\r?$/;

/**
 * Whether a patch leaves a file that Git LFS stores elsewhere: what is in the commit, and so in the patch, is a
 * pointer, and the lines that everybody gets at a checkout cannot be read.
 */
export function isLfsPointer(patch: string): boolean {
  const header = parseHunkHeader(patch.slice(0, Math.max(0, patch.indexOf('\n'))));
  const firstLine = /\n[+ ]([^\n]*)/.exec(patch)?.[1];
  return header?.newStart === 1 && firstLine !== undefined && VERSION.test(firstLine);
}
