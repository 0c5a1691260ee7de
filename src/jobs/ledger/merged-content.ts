import { applyPatch, structuredPatch } from 'diff';
import { compareMerge } from '../../facts/clean-merge.ts';
import type { Forge } from '../../forges/port/forge.ts';
import type { Tree } from '../../forges/port/pull-request.ts';

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
  // Git follows a folder that one side moved: what the other side put there is found elsewhere then.
  const trees = [before, ours, theirs];
  const gone = new Set(trees.flatMap((tree) => [...tree].flatMap(([path, id]) => (result.has(path) ? [] : [id]))));
  const come = new Set(other.flatMap((path) => result.get(path) ?? []));
  const isMoved = (path: string) =>
    result.has(path) ? gone.has(result.get(path) ?? '') : trees.some((tree) => come.has(tree.get(path) ?? ''));
  const unmoved = other.filter((path) => !isMoved(path));
  const moves = unmoved.map((path) => ({
    path,
    from: both.filter((from) => isMove(from, path, ours, theirs, result)),
  }));
  if (moves.some(({ from }) => from.length === 0)) {
    return 'other';
  }
  if (unmoved.length < other.length || moves.some(({ from }) => from.length > 1)) {
    return 'undecided';
  }
  const followed = moves.flatMap(({ from }) => from);
  const stayed = both.filter((path) => !followed.includes(path)).map((path) => ({ path, from: [path] }));
  const files = [...moves, ...stayed];
  for (const { path, from } of files.slice(0, MAX_FILES)) {
    const paths = [from[0], ours.has(path) ? path : from[0], theirs.has(path) ? path : from[0], path];
    const texts = await Promise.all(commits.map((sha, index) => forge.fileAt(repository, paths[index] ?? path, sha)));
    if (!isMerged(texts)) {
      return 'undecided';
    }
  }
  return files.length > MAX_FILES ? 'undecided' : 'same';
}

/** Whether one side moved the file, and the other changed it where it was. */
function isMove(from: string, path: string, ours: Tree, theirs: Tree, result: Tree): boolean {
  const [mover, other] = ours.has(path) ? [ours, theirs] : [theirs, ours];
  return mover.has(path) && !other.has(path) && !mover.has(from) && other.has(from) && !result.has(from);
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
