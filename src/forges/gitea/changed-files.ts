import { requireFound } from '../answer.ts';
import { type FileDiff, splitDiff } from '../diff.ts';
import { type ChangedFile, type ChangedFiles, ForgeError, type PullRequestRef } from '../forge.ts';
import type { GiteaClient } from './client.ts';
import { pullPath } from './read.ts';
import * as shapes from './shapes.ts';

/** A larger diff of a pull request is not read; its files are then listed without one (20 MiB). */
const MAX_DIFF_BYTES = 20_971_520;

const STATUSES: Readonly<Record<string, ChangedFile['status']>> = {
  added: 'added',
  copied: 'added',
  deleted: 'removed',
  renamed: 'renamed',
};

/** The list has no patches; they come from the pull request's whole diff. */
export async function changedFiles(client: GiteaClient, ref: PullRequestRef): Promise<ChangedFiles> {
  const route = `${pullPath(ref)}/files`;
  const listed = requireFound(await client.askAll(route, shapes.files), route);
  const diffs = listed.length > 0 ? await wholeDiff(client, ref) : new Map<string, FileDiff>();
  const files = listed.map((file): ChangedFile => {
    const found = diffs.get(file.filename);
    return {
      path: file.filename,
      ...(file.previous_filename ? { previousPath: file.previous_filename } : {}),
      status: STATUSES[file.status] ?? 'modified',
      // The forge stops counting in a file that is too long for its own pages; the diff has them all.
      additions: found?.additions ?? file.additions,
      deletions: found?.deletions ?? file.deletions,
      counted: found !== undefined && found.diff.kind !== 'binary',
      diff: found?.diff ?? { kind: 'too-large' },
    };
  });
  return { files, complete: true };
}

async function wholeDiff(client: GiteaClient, ref: PullRequestRef): Promise<ReadonlyMap<string, FileDiff>> {
  try {
    return splitDiff((await client.text(`${pullPath(ref)}.diff`, MAX_DIFF_BYTES)) ?? '');
  } catch (error) {
    if (error instanceof ForgeError && error.kind === 'invalid' && error.status === 200) {
      return new Map(); // More than may be read: every file is said to be too large.
    }
    throw error;
  }
}
