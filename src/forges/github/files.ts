import type { Octokit } from 'octokit';
import { requireFound } from '../answer.ts';
import { ForgeError, UnknownCommitError } from '../port/forge-error.ts';
import { isFilePath } from '../port/names.ts';
import { isObjectId, maxBytesOf, textOfBlob } from '../text-file.ts';
import type { GitHubClient } from './client.ts';
import { noSuchCommit, repositoryAddress } from './read.ts';
import { ask } from './request.ts';
import * as shapes from './shapes.ts';

type Directory = ReadonlyMap<string, { readonly type: string; readonly sha: string }>;

/**
 * By the name of a branch or tag, or at a commit. GitHub answers the same 404 for a file that is absent and for a
 * commit that it does not know, or not yet: at a commit, only a list of the directory says that a file is absent.
 */
export async function fileAt(
  client: GitHubClient,
  repository: string,
  path: string,
  ref: string,
): Promise<string | undefined> {
  if (!isFilePath(path)) {
    return undefined;
  }
  const octokit = await client.forRepository(repository);
  if (!isObjectId(ref)) {
    return textOfBlob(await askContents(octokit, repository, path, ref), path);
  }
  const found = await askContents(octokit, repository, path, ref);
  if (found !== undefined) {
    return textOfBlob(found, path);
  }
  if (!(await isListed(path, ref, (tree) => list(octokit, repository, tree)))) {
    return undefined;
  }
  const again = await askContents(octokit, repository, path, ref);
  if (again === undefined) {
    throw new UnknownCommitError(`GET ${path} of ${repository} at ${ref}`);
  }
  return textOfBlob(again, path);
}

async function askContents(octokit: Octokit | undefined, repository: string, path: string, ref: string) {
  const address = repositoryAddress(repository);
  const found = await ask(
    octokit,
    'GET /repos/{owner}/{repo}/contents/{path}',
    { ...address, path, ref },
    shapes.contents,
  );
  // GitHub says of a file of more than 1 MB what it is, and gives its content elsewhere.
  const isElsewhere = found?.encoding === 'none' && (found.size ?? 0) <= maxBytesOf(path);
  if (!isElsewhere || found?.sha === undefined) {
    return found;
  }
  const route = 'GET /repos/{owner}/{repo}/git/blobs/{file_sha}';
  return {
    ...found,
    ...requireFound(await ask(octokit, route, { ...address, file_sha: found.sha }, shapes.blob), route),
  };
}

/** Follows a path from directory to directory. */
async function isListed(
  path: string,
  commit: string,
  directoryOf: (tree: string) => Promise<Directory>,
): Promise<boolean> {
  let entry: { readonly type: string; readonly sha: string } = { type: 'tree', sha: commit };
  for (const name of path.split('/')) {
    const found = entry.type === 'tree' ? (await directoryOf(entry.sha)).get(name) : undefined;
    if (found === undefined) {
      return false;
    }
    entry = found;
  }
  return true;
}

/** `tree` is the id of a tree, or of a commit. */
async function list(octokit: Octokit | undefined, repository: string, tree: string): Promise<Directory> {
  const route = 'GET /repos/{owner}/{repo}/git/trees/{tree_sha}';
  const name = `/repos/${repository}/git/trees/${tree}`;
  const parameters = { ...repositoryAddress(repository), tree_sha: tree };
  const answer = await ask(octokit, route, parameters, shapes.tree).catch(noSuchCommit);
  if (answer === undefined) {
    throw new UnknownCommitError(`GET ${name}`);
  }
  if (answer.truncated) {
    throw new ForgeError('too-large', `GET ${name}: a directory has more entries than GitHub lists`);
  }
  return new Map(answer.tree.map(({ path, type, sha }) => [path, { type, sha }]));
}
