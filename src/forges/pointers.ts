import { parseHunkHeader } from '../common/hunk-header.ts';

/** The first line of a pointer file (https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md), and of its old form. */
const LFS_VERSION = /^version https:\/\/(?:git-lfs|hawser)\.github\.com\/spec\/v1\r?$/;

/** How git writes the only line of a submodule: its content is a commit of another repository. */
const SUBMODULE = /^Subproject commit (?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/**
 * Whether a patch leaves no more than a pointer to content that is elsewhere: a file in Git LFS, or a submodule. The lines
 * that everybody gets at a checkout are not in the patch, and cannot be read.
 */
export function isPointer(patch: string): boolean {
  const header = parseHunkHeader(patch.slice(0, Math.max(0, patch.indexOf('\n'))));
  const firstLine = /\n[+ ]([^\n]*)/.exec(patch)?.[1];
  if (header?.newStart !== 1 || firstLine === undefined) {
    return false;
  }
  return LFS_VERSION.test(firstLine) || (header.newCount === 1 && SUBMODULE.test(firstLine));
}
