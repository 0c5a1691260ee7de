import { ForgeError } from '../port/forge-error.ts';
import type { GitHubClient } from './client.ts';
import { repositoryAddress } from './read.ts';
import { ask } from './request.ts';
import * as shapes from './shapes.ts';

/** A tag may name a tag. Nobody nests them deeper. */
const MAX_NESTED_TAGS = 5;

export async function branchCommit(
  client: GitHubClient,
  repository: string,
  branch: string,
): Promise<string | undefined> {
  return (await readRef(client, repository, 'heads', branch))?.sha;
}

export async function tagCommit(client: GitHubClient, repository: string, tag: string): Promise<string | undefined> {
  let object = await readRef(client, repository, 'tags', tag);
  const octokit = await client.forRepository(repository);
  const route = 'GET /repos/{owner}/{repo}/git/tags/{tag_sha}';
  for (let depth = 0; object?.type === 'tag'; depth++) {
    if (depth === MAX_NESTED_TAGS) {
      throw new ForgeError('invalid', `${repository}: the tag ${tag} is nested more than ${MAX_NESTED_TAGS} deep`);
    }
    const parameters = { ...repositoryAddress(repository), tag_sha: object.sha };
    object = (await ask(octokit, route, parameters, shapes.ref))?.object;
  }
  return object?.sha;
}

async function readRef(client: GitHubClient, repository: string, kind: 'heads' | 'tags', name: string) {
  const octokit = await client.forRepository(repository);
  const parameters = { ...repositoryAddress(repository), name };
  return (await ask(octokit, `GET /repos/{owner}/{repo}/git/ref/${kind}/{name}`, parameters, shapes.ref))?.object;
}
