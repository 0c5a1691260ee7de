import { LRUCache } from 'lru-cache';
import type { Octokit } from 'octokit';
import { ForgeError, UnknownCommitError } from '../port/forge-error.ts';
import { isFilePath } from '../port/names.ts';
import { isObjectId, textOfBlob } from '../text-file.ts';
import type { GitHubClient } from './client.ts';
import { noSuchCommit, repositoryAddress } from './read.ts';
import { ask } from './request.ts';
import * as shapes from './shapes.ts';

/** Names in all directories that are remembered together. */
const MAX_ENTRIES = 50_000;

type Directory = ReadonlyMap<string, { readonly type: string; readonly sha: string }>;
/** By repository and id: a tree never changes. */
type Directories = LRUCache<string, Directory>;

const remembered = new WeakMap<GitHubClient, Directories>();

function rememberedBy(client: GitHubClient): Directories {
  const known =
    remembered.get(client) ?? new LRUCache({ maxSize: MAX_ENTRIES, sizeCalculation: ({ size }) => 1 + size });
  remembered.set(client, known);
  return known;
}

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
  const directories = rememberedBy(client);
  const known = async (tree: string) => directories.get(`${repository} ${tree}`);
  if ((await find(path, ref, known)) === 'absent') {
    return undefined;
  }
  const found = await askContents(octokit, repository, path, ref);
  if (found !== undefined) {
    return textOfBlob(found, path);
  }
  const listed = async (tree: string) => (await known(tree)) ?? list(octokit, repository, tree, directories);
  if ((await find(path, ref, listed)) === 'absent') {
    return undefined;
  }
  const again = await askContents(octokit, repository, path, ref);
  if (again === undefined) {
    throw new UnknownCommitError(`GET ${path} of ${repository} at ${ref}`);
  }
  return textOfBlob(again, path);
}

function askContents(octokit: Octokit | undefined, repository: string, path: string, ref: string) {
  const parameters = { ...repositoryAddress(repository), path, ref };
  return ask(octokit, 'GET /repos/{owner}/{repo}/contents/{path}', parameters, shapes.contents);
}

/** Follows a path from directory to directory. `unknown`: one of them is not known. */
async function find(
  path: string,
  commit: string,
  directoryOf: (tree: string) => Promise<Directory | undefined>,
): Promise<'there' | 'absent' | 'unknown'> {
  let entry: { readonly type: string; readonly sha: string } = { type: 'tree', sha: commit };
  for (const name of path.split('/')) {
    const directory = entry.type === 'tree' ? await directoryOf(entry.sha) : new Map<string, never>();
    if (directory === undefined) {
      return 'unknown';
    }
    const found = directory.get(name);
    if (found === undefined) {
      return 'absent';
    }
    entry = found;
  }
  return 'there';
}

/** `tree` is the id of a tree, or of a commit. */
async function list(
  octokit: Octokit | undefined,
  repository: string,
  tree: string,
  directories: Directories,
): Promise<Directory> {
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
  const directory = new Map(answer.tree.map(({ path, type, sha }) => [path, { type, sha }]));
  directories.set(`${repository} ${tree}`, directory);
  return directory;
}
