import type { GitHubClient } from './client.ts';
import { repositoryAddress } from './read.ts';
import { ask, askAll } from './request.ts';
import * as shapes from './shapes.ts';

/** https://docs.github.com/en/rest/commits/commits#compare-two-commits */
const ROUTE = 'GET /repos/{owner}/{repo}/compare/{basehead}';

/** Places where two histories part that are looked into, with a request each. */
const MAX_FORKS = 4;

/**
 * GitHub names one merge base, also where histories were merged crosswise and there are several. Each of them is among
 * the commits where what `one` has and `other` has not begins: there is one only if all these are its ancestors.
 */
export async function mergeBase(
  client: GitHubClient,
  repository: string,
  one: string,
  other: string,
): Promise<string | undefined> {
  const octokit = await client.forRepository(repository);
  const parameters = { ...repositoryAddress(repository), basehead: `${other}...${one}`, page: 1 };
  const pages = await askAll(octokit, ROUTE, parameters, shapes.ancestry);
  const [named] = pages ?? [];
  const listed = pages?.flatMap(({ commits }) => commits) ?? [];
  if (named === undefined || listed.length < named.total) {
    return undefined;
  }
  const own = new Set([named.mergeBase, ...listed.map(({ sha }) => sha)]);
  const parents = listed.flatMap((commit) => commit.parents.map(({ sha }) => sha));
  const forks = new Set(parents.filter((sha) => !own.has(sha)));
  if (forks.size > MAX_FORKS) {
    return undefined;
  }
  const before = await Promise.all([...forks].map((sha) => isAncestor(client, repository, sha, named.mergeBase)));
  return before.every(Boolean) ? named.mergeBase : undefined;
}

export async function isAncestor(
  client: GitHubClient,
  repository: string,
  ancestor: string,
  descendant: string,
): Promise<boolean> {
  if (ancestor === descendant) {
    return true;
  }
  const octokit = await client.forRepository(repository);
  const basehead = `${ancestor}...${descendant}`;
  const parameters = { ...repositoryAddress(repository), basehead, per_page: 1 };
  const answer = await ask(octokit, ROUTE, parameters, shapes.ancestry);
  return answer?.[0]?.mergeBase === ancestor;
}
