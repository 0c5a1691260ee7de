import type { Forge } from '../forges/port/forge.ts';
import { ForgeError } from '../forges/port/forge-error.ts';
import { CODE_OWNERS_DIALECTS, type CodeOwnersDialect, FORGES } from '../forges/port/forges.ts';
import { changedFiles } from './changed-files.ts';
import { defineFact, NOTHING_MORE } from './fact.ts';
import { flag, oneOf, text } from './given.ts';

export type CodeOwnersFile =
  | { readonly kind: 'unread' }
  | { readonly kind: 'absent' }
  /** It exists, and its text cannot be read; `reason` names it. */
  | { readonly kind: 'unusable'; readonly path: string; readonly reason: string }
  | { readonly kind: 'file'; readonly path: string; readonly text: string; readonly dialect: CodeOwnersDialect };

const UNREAD = { kind: 'unread' } as CodeOwnersFile;

/** CODEOWNERS, from the base branch, so that a pull request cannot choose who must approve it. */
export const codeOwners = defineFact({
  name: 'codeOwners',
  unread: UNREAD,
  unreadAs: 'a CODEOWNERS file',
  unreadAfter: [],
  dependsOn: [changedFiles],
  read: ({ forge, pullRequest, baseSha }) => readCodeOwners(forge, pullRequest.repository, baseSha),
  change: 'commits',
  // A push to the base branch starts the reviews of the pull requests into it.
  forges: NOTHING_MORE,
  given: {
    shape: {
      codeowners: text.optional().describe('The text of CODEOWNERS. Default: none.'),
      codeowners_unread: flag.optional().describe('true: CODEOWNERS could not be read.'),
      dialect: oneOf(...CODE_OWNERS_DIALECTS)
        .optional()
        .describe('How CODEOWNERS is read. Default: github.'),
    },
    of({ codeowners, codeowners_unread, dialect = 'github' }): CodeOwnersFile {
      if (codeowners_unread === true) {
        return UNREAD;
      }
      return codeowners === undefined
        ? { kind: 'absent' }
        : { kind: 'file', path: 'CODEOWNERS', text: codeowners, dialect };
    },
  },
});

export async function readCodeOwners(forge: Forge, repository: string, baseSha: string): Promise<CodeOwnersFile> {
  const { paths, dialect } = FORGES[forge.name].codeOwners;
  for (const path of paths) {
    try {
      const found = await forge.fileAt(repository, path, baseSha);
      if (found !== undefined) {
        return { kind: 'file', path, text: found, dialect };
      }
    } catch (error) {
      if (error instanceof ForgeError && (error.kind === 'too-large' || error.kind === 'not-a-file')) {
        return { kind: 'unusable', path, reason: error.message };
      }
      throw error;
    }
  }
  return { kind: 'absent' };
}
