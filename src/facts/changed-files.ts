import * as z from 'zod';
import type { ChangedFile, ChangedFiles } from '../forges/port/pull-request.ts';
import { defineFact, NOTHING_MORE } from './fact.ts';
import { count, flag, oneOf, text } from './given.ts';

const file = z.strictObject(
  {
    path: text.describe('Its path, as it is after the change.'),
    from: text.optional().describe('Its path before it was renamed.'),
    status: oneOf('added', 'modified', 'removed', 'renamed').optional().describe('Default: modified, or renamed.'),
    added: z.array(text, { error: 'a list of lines' }).optional().describe('Lines added, at line 1 and on.'),
    patch: text.optional().describe('Its difference as git writes it, in the place of `added`.'),
    diff: oneOf('binary', 'too-large').optional().describe('Why there is no difference to read.'),
    additions: count.optional().describe('How many lines were added. Default: those of `added`.'),
    deletions: count.optional().describe('How many lines were removed. Default: 0.'),
    counted: flag.optional().describe('Whether the forge counted the lines; of binary files it never does.'),
  },
  { error: 'a file, such as { path: src/app.ts }' },
);

type Part = 'lines';

const UNREAD: ChangedFiles = { files: [], complete: false };

/** The files of the change; with `lines`, what is added and removed in them. */
export const changedFiles = defineFact({
  name: 'changedFiles',
  unread: UNREAD,
  unreadAs: 'changed files',
  unreadAfter: [],
  dependsOn: [],
  read: ({ forge, pullRequest }, _parts: readonly Part[]) => forge.changedFiles(pullRequest, pullRequest.head.sha),
  change: 'commits',
  // A push, of the head or of the base, is an event of every review.
  forges: NOTHING_MORE,
  given: {
    shape: {
      files: z.array(file, { error: 'a list of files' }).optional().describe('The changed files. Default: none.'),
      files_complete: flag.optional().describe('false: there are more files, which could not be read.'),
    },
    of: ({ files = [], files_complete: complete = true }) => ({ files: files.map(changedFile), complete }),
  },
});

function changedFile(from: z.input<typeof file>): ChangedFile {
  const { path, from: previousPath, added = [], diff } = from;
  const patch = from.patch ?? (added.length === 0 ? '' : patchOf(added));
  return {
    path,
    previousPath,
    status: from.status ?? (previousPath === undefined ? 'modified' : 'renamed'),
    additions: from.additions ?? added.length,
    deletions: from.deletions ?? 0,
    counted: diff !== 'binary' && from.counted !== false,
    diff: diff === undefined ? { kind: 'text', patch } : { kind: diff },
  };
}

/** A hunk that adds these lines at the top of an empty file. */
export function patchOf(added: readonly string[]): string {
  return `@@ -0,0 +1,${added.length} @@\n${added.map((line) => `+${line}\n`).join('')}`;
}
