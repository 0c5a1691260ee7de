import type { Forge } from '../forges/port/forge.ts';
import type { Commit, PersonReview, Tree } from '../forges/port/pull-request.ts';
import { type AuthoredCommits, authorsOf } from './authors/authors.ts';
import { NO_PEOPLE_SETTINGS } from './authors/people-settings.ts';

/** Merge commits looked into for one review, at five requests each. Others count as changes by their authors. */
const MAX_EXAMINED_MERGES = 10;

/** Paths at which a merge is not what git makes of its parents without a person's help. */
interface MergeDifference {
  /** The merge has not what the only side that changed it has. */
  readonly other: readonly string[];
  /** Both sides changed it, differently: git, or a person, made one of them. */
  readonly both: readonly string[];
}

function compareMerge(base: Tree, ours: Tree, theirs: Tree, result: Tree): MergeDifference {
  const [other, both]: [string[], string[]] = [[], []];
  for (const path of new Set([...base.keys(), ...ours.keys(), ...theirs.keys(), ...result.keys()])) {
    const [before, left, right] = [base.get(path), ours.get(path), theirs.get(path)];
    if (left !== before && right !== before && left !== right) {
      both.push(path);
    } else if (result.get(path) !== (left === before ? right : left)) {
      other.push(path);
    }
  }
  return { other, both };
}

/** A file that both sides changed, differently, needed a decision, and so the merge is not clean. */
export function isCleanMerge(base: Tree, ours: Tree, theirs: Tree, result: Tree): boolean {
  const { other, both } = compareMerge(base, ours, theirs, result);
  return other.length === 0 && both.length === 0;
}

/** Whether a commit is a clean merge of two parents, as far as the forge tells. */
export type CleanMerges = (commit: Commit) => Promise<boolean>;

/** Looks into each merge once, and into MAX_EXAMINED_MERGES at most. */
export function lookIntoMerges(forge: Forge, repository: string): CleanMerges {
  const examined = new Map<string, Promise<boolean>>();
  return async (commit) => {
    const before = examined.get(commit.sha);
    if (before !== undefined || commit.parents.length !== 2 || examined.size >= MAX_EXAMINED_MERGES) {
      return before ?? false;
    }
    const answer = isClean(forge, repository, commit);
    examined.set(commit.sha, answer);
    return answer;
  };
}

/**
 * The clean ones among the merge commits that could make a difference: those by somebody who approves, and those
 * without the sign-off that a rule may require. No others are read.
 */
export async function readCleanMerges(
  isClean: CleanMerges,
  made: AuthoredCommits,
  trailers: readonly string[],
  reviews: readonly PersonReview[],
): Promise<ReadonlySet<string>> {
  const approvers = new Set(
    reviews.filter(({ state }) => state === 'approved').map(({ author }) => author.toLowerCase()),
  );
  const { people } = authorsOf(made, { ...NO_PEOPLE_SETTINGS, authorTrailers: trailers });
  const byApprovers = new Set(
    people.filter(({ login }) => approvers.has(login?.toLowerCase() ?? '')).map(({ sha }) => sha),
  );
  const matters = ({ sha, message }: Commit) => byApprovers.has(sha) || !/^signed-off-by: /im.test(message);
  const clean = new Set<string>();
  for (const commit of made.commits.filter(matters)) {
    if (await isClean(commit)) {
      clean.add(commit.sha);
    }
  }
  return clean;
}

async function isClean(forge: Forge, repository: string, { sha, parents }: Commit): Promise<boolean> {
  const [left = '', right = ''] = parents;
  const mergeBase = await forge.mergeBase(repository, left, right);
  if (mergeBase === undefined) {
    return false;
  }
  const [base, ours, theirs, result] = await Promise.all(
    [mergeBase, left, right, sha].map((commit) => forge.tree(repository, commit)),
  );
  return (
    base !== undefined &&
    ours !== undefined &&
    theirs !== undefined &&
    result !== undefined &&
    isCleanMerge(base, ours, theirs, result)
  );
}
