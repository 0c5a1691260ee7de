import type { z } from 'zod';
import { type GiteaClient, SHORT } from './client.ts';
import { commitsSince } from './objects.ts';
import type * as shapes from './shapes.ts';

type Listed = z.output<typeof shapes.commits>;

/** Places where two histories part that are compared, with a request for each pair. */
const MAX_FORKS = 4;

/** On one page. */
const FEW_COMMITS = 50;

/**
 * These forges do not name a merge base. It is among the commits where what `one` has and `other` has not begins, and
 * the other way around. Where histories were merged crosswise there are several, and the answer is undefined.
 */
export async function mergeBase(
  client: GiteaClient,
  repository: string,
  one: string,
  other: string,
): Promise<string | undefined> {
  if (one === other) {
    return one;
  }
  const ofOne = await commitsSince(client, repository, other, one, SHORT);
  if (ofOne !== undefined && ofOne.total > FEW_COMMITS) {
    const ofOther = await commitsSince(client, repository, one, other, SHORT);
    if (ofOther !== undefined && ofOther.total < ofOne.total) {
      return baseOf(client, repository, other, one, await ofOther.all());
    }
  }
  return baseOf(client, repository, one, other, await ofOne?.all());
}

/** `ofOne`: what `one` has and `other` has not. */
async function baseOf(
  client: GiteaClient,
  repository: string,
  one: string,
  other: string,
  ofOne: Listed | undefined,
): Promise<string | undefined> {
  const forksOfOne = forksOf(ofOne);
  if (forksOfOne.includes(other)) {
    return other;
  }
  if (ofOne === undefined || (forksOfOne.length === 1 && ofOne.every(({ parents }) => parents.length > 0))) {
    return forksOfOne[0];
  }
  const forksOfOther = forksOf(await listSince(client, repository, one, other));
  if (forksOfOther.includes(one)) {
    return one;
  }
  const common = forksOfOne.filter((sha) => forksOfOther.includes(sha));
  return bestOf(common, (sha, fork) => isAncestor(client, repository, sha, fork));
}

/** The commit that all others are ancestors of. */
async function bestOf(
  forks: readonly string[],
  isBefore: (sha: string, fork: string) => Promise<boolean>,
): Promise<string | undefined> {
  for (const fork of forks.length > MAX_FORKS ? [] : forks) {
    const before = await Promise.all(forks.filter((sha) => sha !== fork).map((sha) => isBefore(sha, fork)));
    if (before.every(Boolean)) {
      return fork;
    }
  }
  return undefined;
}

/** True only where it is among the parents of what is listed: an empty list would prove nothing. */
export async function isAncestor(
  client: GiteaClient,
  repository: string,
  ancestor: string,
  descendant: string,
): Promise<boolean> {
  return (
    ancestor === descendant || forksOf(await listSince(client, repository, ancestor, descendant)).includes(ancestor)
  );
}

/** Commits that others are based on, and that are not listed themselves. */
function forksOf(listed: Listed = []): readonly string[] {
  const own = new Set(listed.map(({ sha }) => sha));
  return [...new Set(listed.flatMap(({ parents }) => parents))].filter((sha) => !own.has(sha));
}

/** Without messages, which may be of any length. */
async function listSince(
  client: GiteaClient,
  repository: string,
  base: string,
  head: string,
): Promise<Listed | undefined> {
  return (await commitsSince(client, repository, base, head, SHORT))?.all();
}
