import { LRUCache } from 'lru-cache';
import type { z } from 'zod';
import { requireFound } from '../answer.ts';
import { ForgeError, UnknownCommitError } from '../port/forge-error.ts';
import { isFilePath } from '../port/names.ts';
import { isObjectId, textOfBlob } from '../text-file.ts';
import { type GiteaClient, type Page, path } from './client.ts';
import { repositoryPath } from './read.ts';
import * as shapes from './shapes.ts';

/**
 * What git has under an id. Where these forges are asked for a file at a commit, or for a comparison with it, they take
 * a branch or a tag of that name before the commit, and whoever may push can make one (Gitea 1.26). Under `git/` and in
 * the list of commits an id is an id.
 */

/** Pages of a directory, of 1,000 entries each as installed (DEFAULT_GIT_TREES_PER_PAGE). */
const MAX_TREE_PAGES = 50;
/** A longer list is not read: 20 pages. */
const MAX_COMMITS = 1_000;

/** An object never changes. */
const MAX_ENTRIES = 50_000;
const MAX_CHARACTERS = 8_000_000;

type Tree = z.output<typeof shapes.tree>;
type Blob = z.output<typeof shapes.blob>;

interface Remembered {
  /** Pages of directories, and files, by their addresses. */
  readonly trees: LRUCache<string, Tree>;
  readonly blobs: LRUCache<string, Blob>;
}

const remembered = new WeakMap<GiteaClient, Remembered>();

function rememberedBy(client: GiteaClient): Remembered {
  const known = remembered.get(client) ?? {
    trees: new LRUCache({ maxSize: MAX_ENTRIES, sizeCalculation: ({ tree }) => 1 + (tree?.length ?? 0) }),
    blobs: new LRUCache({ maxSize: MAX_CHARACTERS, sizeCalculation: ({ content }) => 1 + (content?.length ?? 0) }),
  };
  remembered.set(client, known);
  return known;
}

/** By the name of a branch or tag, or at a commit. */
export async function fileAt(
  client: GiteaClient,
  repository: string,
  file: string,
  ref: string,
): Promise<string | undefined> {
  if (!isFilePath(file)) {
    return undefined;
  }
  if (isObjectId(ref)) {
    return fileAtCommit(client, repository, file, ref);
  }
  const route = `${repositoryPath(repository)}/contents${path(...file.split('/'))}`;
  return textOfBlob(await client.ask(route, shapes.contents, { query: { ref } }), file);
}

async function fileAtCommit(
  client: GiteaClient,
  repository: string,
  file: string,
  commit: string,
): Promise<string | undefined> {
  const names = file.split('/');
  let directory = commit;
  for (const [index, name] of names.entries()) {
    const entry = await entryOf(client, repository, directory, name);
    if (entry === undefined) {
      return undefined;
    }
    if (index === names.length - 1) {
      const type = typeOf(entry);
      const blob = type === 'file' ? await blobOf(client, repository, entry.sha) : {};
      return textOfBlob({ type, ...blob }, file);
    }
    if (entry.type !== 'tree') {
      return undefined;
    }
    directory = entry.sha;
  }
  return undefined;
}

interface Entry {
  readonly mode: string;
  readonly type: string;
  readonly sha: string;
}

/** In a directory: `tree` is its id, or that of a commit for the uppermost one. */
async function entryOf(
  client: GiteaClient,
  repository: string,
  tree: string,
  name: string,
): Promise<Entry | undefined> {
  const route = `${repositoryPath(repository)}${path('git', 'trees', tree)}`;
  for (let page = 1; page <= MAX_TREE_PAGES; page += 1) {
    const { tree: entries, truncated } = await treePage(client, route, page);
    const found = entries?.find((entry) => entry.path === name);
    if (found !== undefined || !truncated) {
      return found;
    }
  }
  throw new ForgeError('too-large', `GET ${route}: a directory has more entries than are read`);
}

/** Undefined where there is no such commit: these forges then answer 400 (Gitea 1.26) or 404. */
export async function askTree(
  client: GiteaClient,
  route: string,
  query: Readonly<Record<string, string | number>>,
): Promise<Tree | undefined> {
  try {
    return await client.ask(route, shapes.tree, { query });
  } catch (error) {
    if (error instanceof ForgeError && error.status === 400) {
      return undefined;
    }
    throw error;
  }
}

/** Throws where it is not found: a tree has the names of all its files, so only a tree says that a file is absent. */
async function treePage(client: GiteaClient, route: string, page: number): Promise<Tree> {
  const { trees } = rememberedBy(client);
  const key = `${route}?${page}`;
  const tree = trees.get(key) ?? (await askTree(client, route, { page }));
  if (tree === undefined) {
    throw new UnknownCommitError(`GET ${route}`);
  }
  trees.set(key, tree);
  return tree;
}

async function blobOf(client: GiteaClient, repository: string, sha: string): Promise<Blob> {
  const { blobs } = rememberedBy(client);
  const route = `${repositoryPath(repository)}${path('git', 'blobs', sha)}`;
  const blob = blobs.get(route) ?? requireFound(await client.ask(route, shapes.blob), `GET ${route}`);
  blobs.set(route, blob);
  return blob;
}

function typeOf({ mode, type }: Entry): string {
  if (type === 'blob') {
    return mode === '120000' ? 'symlink' : 'file';
  }
  return type === 'tree' ? 'dir' : 'submodule';
}

type Listed = z.output<typeof shapes.commits>;

/** What `head` has and `base` has not, newest first, by pages. */
export interface CommitList {
  readonly total: number;
  /** Undefined: there are too many. */
  readonly all: () => Promise<Listed | undefined>;
}

/** Undefined when one of the commits is not there. `maxStringBytes`: of what is needed of their messages. */
export async function commitsSince(
  client: GiteaClient,
  repository: string,
  base: string,
  head: string,
  maxStringBytes?: number,
): Promise<CommitList | undefined> {
  const route = `${repositoryPath(repository)}/commits`;
  // All but the first two are costly for the forge.
  const query = { sha: head, not: base, stat: 'false', verification: 'false', files: 'false' };
  const ask = { query, ...(maxStringBytes !== undefined && { maxStringBytes }) };
  const first = await askFirst();
  return first && { total: first.total ?? Number.POSITIVE_INFINITY, all: () => all(first) };

  async function askFirst(): Promise<Page<Listed[number]> | undefined> {
    try {
      return await client.askPage(route, shapes.commits, ask);
    } catch (error) {
      // Where `base` is gone, git fails, and so do these forges.
      if (error instanceof ForgeError && (error.status ?? 0) >= 500 && !(await isThere(client, repository, base))) {
        return undefined;
      }
      throw error;
    }
  }

  async function all(page: Page<Listed[number]>): Promise<Listed | undefined> {
    if (page.total === undefined || page.total > MAX_COMMITS) {
      return undefined;
    }
    const found = [...page.items];
    for (let number = 2; found.length < page.total; number += 1) {
      const next = await client.askPage(route, shapes.commits, { ...ask, number, before: found.length });
      if (next === undefined || next.items.length === 0) {
        return undefined;
      }
      found.push(...next.items);
    }
    return found;
  }
}

async function isThere(client: GiteaClient, repository: string, commit: string): Promise<boolean> {
  const route = `${repositoryPath(repository)}${path('git', 'commits', commit)}`;
  return (
    (await client.ask(route, shapes.commit, { query: { stat: 'false', verification: 'false', files: 'false' } })) !==
    undefined
  );
}
