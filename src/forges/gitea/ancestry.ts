import type { z } from 'zod';
import { UNCHANGING } from '../transport/forge-fetch.ts';
import { type GiteaClient, path, SHORT } from './client.ts';
import { repositoryPath } from './read.ts';
import * as shapes from './shapes.ts';

type Listed = z.output<typeof shapes.comparison>['commits'];

/** Places where two histories part that are compared, with a request for each pair. */
const MAX_FORKS = 4;

/**
 * These forges compare two commits without naming their merge base. It is among the commits where what `one` has and
 * `other` has not begins.
 *
 * Where histories were merged crosswise, they list what `one` has and *one of the merge bases* has not. So commits that
 * both have can be listed; then there is more than one merge base, and the answer is undefined.
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
  const ofOne = await commitsSince(client, repository, other, one);
  const forksOfOne = forksOf(ofOne);
  if (forksOfOne.includes(other)) {
    return other;
  }
  if (ofOne === undefined || (forksOfOne.length === 1 && ofOne.every(({ parents }) => parents.length > 0))) {
    return forksOfOne[0];
  }
  const ofOther = await commitsSince(client, repository, one, other);
  const forksOfOther = forksOf(ofOther);
  if (forksOfOther.includes(one)) {
    return one;
  }
  const others = new Set(ofOther?.map(({ sha }) => sha));
  const crosswise = ofOne.some(({ sha }) => others.has(sha)) || forksOfOne.some((sha) => others.has(sha));
  const common = forksOfOne.filter((sha) => forksOfOther.includes(sha));
  return crosswise ? undefined : bestOf(common, (sha, fork) => isAncestor(client, repository, sha, fork));
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
    ancestor === descendant || forksOf(await commitsSince(client, repository, ancestor, descendant)).includes(ancestor)
  );
}

/** Commits that others are based on, and that are not listed themselves. */
function forksOf(listed: Listed = []): readonly string[] {
  const own = new Set(listed.map(({ sha }) => sha));
  return [...new Set(listed.flatMap(({ parents }) => parents))].filter((sha) => !own.has(sha));
}

/** What `head` has and `base` has not, newest first; undefined when there is no such comparison, or not all of it. */
async function commitsSince(
  client: GiteaClient,
  repository: string,
  base: string,
  head: string,
): Promise<Listed | undefined> {
  const route = `${repositoryPath(repository)}${path('compare', `${base}...${head}`)}`;
  const query = { verification: 'false', files: 'false' };
  const headers = { 'cache-control': UNCHANGING };
  // Without messages, which may be of any length.
  const answer = await client.ask(route, shapes.comparison, { query, headers, maxStringBytes: SHORT });
  return answer === undefined || answer.commits.length < answer.total_commits ? undefined : answer.commits;
}
