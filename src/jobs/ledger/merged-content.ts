import { applyPatch, structuredPatch } from 'diff';
import type { Forge } from '../../forges/port/forge.ts';
import { compareMerge } from '../../review/evaluation/clean-merge.ts';

/**
 * `same`: it is what git makes of base and head. `other`: it has changes that the head does not have. `undecided`: both
 * sides changed a file, and it is neither told nor certain what git makes of them.
 */
export type MergedContent = 'same' | 'other' | 'undecided';

export interface Merged {
  /** The commit that it was put on. */
  readonly base: string;
  readonly head: string;
  /** What it became. */
  readonly commit: string;
}

/** Files that both sides changed, at four requests each. */
const MAX_FILES = 20;
/** Characters of a file, and lines that differ: comparing them takes the time of everybody. */
const MAX_FILE_LENGTH = 1_000_000;
const MAX_EDITS = 1_000;
/** Lines around a change that have to be there. Git takes fewer where it can. */
const CONTEXTS = [3, 1];

/** Whether a commit of the base branch has what was judged at the head, whoever made it. */
export async function mergedContent(
  forge: Forge,
  repository: string,
  { base, head, commit }: Merged,
): Promise<MergedContent> {
  const mergeBase = await forge.mergeBase(repository, base, head);
  if (mergeBase === undefined) {
    return 'undecided';
  }
  const commits = [mergeBase, base, head, commit];
  const [before, ours, theirs, result] = await Promise.all(commits.map((sha) => forge.tree(repository, sha)));
  if (before === undefined || ours === undefined || theirs === undefined || result === undefined) {
    return 'undecided';
  }
  const { other, both } = compareMerge(before, ours, theirs, result);
  if (other.length > 0) {
    return 'other';
  }
  for (const path of both.slice(0, MAX_FILES)) {
    const texts = await Promise.all(commits.map((sha) => forge.fileAt(repository, path, sha)));
    if (!isMerged(texts)) {
      return 'undecided';
    }
  }
  return both.length > MAX_FILES ? 'undecided' : 'same';
}

/** Whether the changes of the head, put on the file of the base, make the result. */
function isMerged([before, ours, theirs, result]: readonly (string | undefined)[]): boolean {
  if (before === undefined || ours === undefined || theirs === undefined || result === undefined) {
    return false;
  }
  if ([before, ours, theirs, result].some(({ length }) => length > MAX_FILE_LENGTH)) {
    return false;
  }
  return CONTEXTS.some((context) => {
    const patch = structuredPatch('', '', before, theirs, '', '', { context, maxEditLength: MAX_EDITS });
    return patch !== undefined && applyPatch(ours, patch, { autoConvertLineEndings: false }) === result;
  });
}
