import type { Octokit } from 'octokit';
import { z } from 'zod';
import { requireFound } from '../answer.ts';
import { countLines, diffOfPatch, type FileDiff, splitDiff } from '../diff.ts';
import { ForgeError } from '../port/forge-error.ts';
import type { ChangedFile, ChangedFiles, PullRequestRef } from '../port/pull-request.ts';
import { isObjectId } from '../text-file.ts';
import type { GitHubClient } from './client.ts';
import { address } from './read.ts';
import { ask, askAll } from './request.ts';
import * as shapes from './shapes.ts';

type File = z.output<typeof shapes.files>[number];

/** GitHub lists no more files of one pull request. */
const MAX_LISTED_FILES = 3_000;
/** The ids of the empty file, in git's two object formats. */
const EMPTY_BLOBS = new Set([
  'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391',
  '473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813',
]);

const STATUSES = {
  added: 'added',
  copied: 'added',
  removed: 'removed',
  modified: 'modified',
  changed: 'modified',
  unchanged: 'modified',
  renamed: 'renamed',
} as const;

export async function changedFiles(
  client: GitHubClient,
  ref: PullRequestRef,
  headSha: string,
  count: number | undefined,
): Promise<ChangedFiles> {
  const octokit = await client.forRepository(ref.repository);
  const route = 'GET /repos/{owner}/{repo}/pulls/{pull_number}/files';
  const listed = requireFound(await askAll(octokit, route, address(ref), shapes.files), route);
  if (listed.some((file) => isOfAnotherCommit(file, headSha))) {
    throw new ForgeError(
      'unavailable',
      `${route}: the forge shows the files of another commit than the head ${headSha}`,
    );
  }
  if (count !== undefined && listed.length < Math.min(count, MAX_LISTED_FILES)) {
    throw new ForgeError('unavailable', `${route}: the forge lists ${listed.length} of ${count} changed files`);
  }
  const whole = listed.some(isUnclear) ? await wholeDiff(octokit, ref) : new Map<string, FileDiff>();
  return {
    files: listed.map((file) => toChangedFile(file, whole)),
    complete: listed.length < MAX_LISTED_FILES || (count ?? (await countOfFiles(octokit, ref))) <= listed.length,
  };
}

/**
 * The head may move, and move back, while its files are read. The address of a removed file may name another commit.
 */
function isOfAnotherCommit({ status, contents_url }: File, headSha: string): boolean {
  const commit = URL.parse(contents_url)?.searchParams.get('ref') ?? headSha;
  return status !== 'removed' && isObjectId(commit) && commit !== headSha;
}

async function countOfFiles(octokit: Octokit | undefined, ref: PullRequestRef): Promise<number> {
  const route = 'GET /repos/{owner}/{repo}/pulls/{pull_number}';
  return requireFound(await ask(octokit, route, address(ref), shapes.pullSize), route).changed_files;
}

/**
 * No patch, and the list does not say why: a binary file, one with some thousand lines, or a rename, which may
 * change nothing or be a binary file with changes.
 */
function isUnclear(file: File): boolean {
  return file.patch === undefined && !isEmptyFile(file);
}

/** A new file without content. */
function isEmptyFile(file: File): boolean {
  return file.additions + file.deletions === 0 && EMPTY_BLOBS.has(file.sha ?? '');
}

/**
 * The pull request's diff as text has what the list left out, and says what is binary. GitHub gives it up to
 * 20,000 lines or 300 files and answers 406 beyond; what the list left out is then too large.
 */
async function wholeDiff(octokit: Octokit | undefined, ref: PullRequestRef): Promise<ReadonlyMap<string, FileDiff>> {
  const parameters = { ...address(ref), mediaType: { format: 'diff' } };
  try {
    const diff = await ask(octokit, 'GET /repos/{owner}/{repo}/pulls/{pull_number}', parameters, z.string());
    return splitDiff(diff ?? '');
  } catch (error) {
    if (error instanceof ForgeError && (error.kind === 'invalid' || error.kind === 'too-large')) {
      return new Map();
    }
    throw error;
  }
}

function toChangedFile(file: File, whole: ReadonlyMap<string, FileDiff>): ChangedFile {
  const diff = diffOf(file, whole);
  return {
    path: file.filename,
    previousPath: previousPathOf(file),
    status: STATUSES[file.status],
    additions: file.additions,
    deletions: file.deletions,
    // GitHub counts the lines of a text that is too large to show, and gives 0 for what is binary to git.
    counted: diff.kind === 'text' || (diff.kind === 'too-large' && file.additions + file.deletions > 0),
    diff,
  };
}

/** A renamed file may have been what a rule is about. */
function previousPathOf(file: File): string | undefined {
  if (file.status === 'renamed' && !file.previous_filename) {
    throw new ForgeError('unavailable', `the forge does not say from where ${file.filename} was renamed`);
  }
  return file.previous_filename || undefined;
}

function diffOf(file: File, whole: ReadonlyMap<string, FileDiff>): ChangedFile['diff'] {
  if (file.patch !== undefined) {
    const { patch } = file;
    return isWhole(countLines(patch), file) ? diffOfPatch(patch) : { kind: 'too-large' };
  }
  if (isEmptyFile(file)) {
    return { kind: 'text', patch: '' };
  }
  const found = whole.get(file.filename);
  return found !== undefined && isWhole(found, file) ? found.diff : { kind: 'too-large' };
}

/** A truncated patch must not count as complete. */
function isWhole(counted: { additions: number; deletions: number }, file: File): boolean {
  return counted.additions === file.additions && counted.deletions === file.deletions;
}
