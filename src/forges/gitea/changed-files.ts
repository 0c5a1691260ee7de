import { setTimeout as sleep } from 'node:timers/promises';
import type { z } from 'zod';
import { requireFound } from '../answer.ts';
import { type FileDiff, splitDiff } from '../diff.ts';
import { ForgeError } from '../port/forge-error.ts';
import type { ChangedFile, ChangedFiles, PullRequestRef } from '../port/pull-request.ts';
import type { GiteaClient, Page } from './client.ts';
import { pullPath, repositoryPath } from './read.ts';
import * as shapes from './shapes.ts';

type ListedFile = z.output<typeof shapes.files>[number];

/** A larger diff of a pull request is not read; its files are then listed without one (16 MiB). */
const MAX_DIFF_BYTES = 16_777_216;

/**
 * Between looks at a difference that is still that of the head before: 350 to 1,370 ms after a push it was the new
 * one's (Gitea 1.26.0 and Forgejo 7.0.15), later where the site has hooks of its own.
 */
const PAUSES_MS = [250, 500, 1_000, 2_000] as const;

const STATUSES = {
  added: 'added',
  changed: 'modified',
  copied: 'added',
  deleted: 'removed',
  renamed: 'renamed',
  unchanged: 'modified',
} as const;

export async function changedFiles(
  client: GiteaClient,
  ref: PullRequestRef,
  headSha: string,
  count: number | undefined,
): Promise<ChangedFiles> {
  for (const pauseMs of [...PAUSES_MS, undefined]) {
    const files = await filesAt(client, ref, headSha, count);
    if (files !== undefined) {
      return files;
    }
    if (pauseMs !== undefined) {
      await sleep(pauseMs);
    }
  }
  throw new ForgeError(
    'unavailable',
    `GET ${pullPath(ref)}.diff: the forge still shows another commit than the head ${headSha}, or not all its files`,
  );
}

/**
 * Undefined when any of what was read is of another commit, or the list has fewer files than the diff, or than the pull
 * request says where the diff says nothing. The diff does not name its commit, so the ref that it is made from must be
 * at that commit before and after. The count can be of the merge base before: the base branch has some of them by now.
 *
 * The files are taken from the diff, as long as it has as many as the pull request or the list says: an answer can end
 * early. Each page of the list makes the forge compute the whole difference, and a file that becomes a link is on the
 * list twice, but counted once, so that the list (Gitea 1.26.0) ends before the last file.
 */
async function filesAt(
  client: GiteaClient,
  ref: PullRequestRef,
  headSha: string,
  count: number | undefined,
): Promise<ChangedFiles | undefined> {
  if ((await differenceHead(client, ref)) !== headSha) {
    return undefined;
  }
  const diffs = await wholeDiff(client, ref);
  // Forgejo says 0 where it did not count: what is pushed to `refs/for/…`, and a commit that it does not find.
  const expected = count || (await firstPage(client, ref)).total;
  const listed = diffs.size === expected ? undefined : await listAll(client, ref);
  if ((await differenceHead(client, ref)) !== headSha) {
    return undefined;
  }
  if (listed === undefined) {
    const files = [...diffs.values()].map((diff) => ({ ...diff, counted: diff.diff.kind !== 'binary' }));
    return { files, complete: true };
  }
  if (listed.length < (diffs.size || (count ?? 0))) {
    return undefined;
  }
  const files = listed.map((file) => toChangedFile(file, diffs.get(file.filename)));
  // Gitea 1.22.0 and older Forgejos never say from where a file was renamed. It may have been what a rule is about.
  const isTold = files.every(({ status, previousPath }) => status !== 'renamed' || previousPath !== undefined);
  return { files, complete: isTold && new Set(files.map(({ path }) => path)).size === files.length };
}

async function firstPage(client: GiteaClient, ref: PullRequestRef): Promise<Page<ListedFile>> {
  const route = `${pullPath(ref)}/files`;
  return requireFound(await client.askPage(route, shapes.files), route);
}

async function listAll(client: GiteaClient, ref: PullRequestRef): Promise<readonly ListedFile[]> {
  const route = `${pullPath(ref)}/files`;
  return requireFound(await client.askAll(route, shapes.files), route);
}

/**
 * What the forge makes the difference and the list of commits from. It follows the branch with a delay, and stays where
 * it is once the pull request is merged.
 */
export async function differenceHead(
  client: GiteaClient,
  { repository, number }: PullRequestRef,
): Promise<string | undefined> {
  const name = `pull/${number}/head`;
  const route = `${repositoryPath(repository)}/git/refs/${name}`;
  const refs = requireFound(await client.ask(route, shapes.gitRefs), route);
  return refs.find(({ ref }) => ref === `refs/${name}`)?.object.sha;
}

/** The list has no patches; they come from the diff. */
function toChangedFile(file: ListedFile, found: FileDiff | undefined): ChangedFile {
  return {
    path: file.filename,
    previousPath: found?.previousPath ?? (file.previous_filename || undefined),
    status: STATUSES[file.status],
    // The forge stops counting in a file that is too long for its own pages; the diff has them all.
    additions: found?.additions ?? file.additions,
    deletions: found?.deletions ?? file.deletions,
    counted: found !== undefined && found.diff.kind !== 'binary',
    diff: found?.diff ?? { kind: 'too-large' },
  };
}

async function wholeDiff(client: GiteaClient, ref: PullRequestRef): Promise<ReadonlyMap<string, FileDiff>> {
  try {
    return splitDiff((await client.text(`${pullPath(ref)}.diff`, MAX_DIFF_BYTES)) ?? '');
  } catch (error) {
    if (error instanceof ForgeError && error.kind === 'too-large') {
      return new Map(); // More than may be read: every file is said to be too large.
    }
    throw error;
  }
}
