import { hash } from 'node:crypto';
import type { CodeOwnersFile } from '../facts/code-owners.ts';

/** Where a policy was read from, as digests of {@link digestOf}. Absent is what there was not. */
export interface PolicySources {
  readonly policyDigest?: string;
  /** Where the repository has no policy of its own. */
  readonly operatorPolicyDigest?: string;
  /** `owner/repository@ref` as the policy says it. */
  readonly extendsName?: string;
  readonly extendsDigest?: string;
  /** The digest of the organisation's baseline, and the commit of the policy repository that it is from. */
  readonly baselineDigest?: string;
  readonly baselineCommit?: string;
  /** Which of them fewer people can read than the pull request: what they say is not shown there. */
  readonly extendsHidden?: true;
  readonly baselineHidden?: true;
}

export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/** The path counts too: the same text at another place may mean something else. */
export function digestOf({ path, text }: SourceFile): string {
  return hash('sha256', `${path}\0${text}`);
}

/** A text that a verdict was judged by, under its digest in {@link PolicySources}. */
export interface SourceText extends SourceFile {
  readonly digest: string;
}

export function sourceText(file: SourceFile): SourceText {
  return { digest: digestOf(file), path: file.path, text: file.text };
}

/**
 * Undefined where CODEOWNERS was not needed. Where it was needed and is absent there is a digest too: it may be added.
 */
export function codeOwnersText(codeOwners: CodeOwnersFile): SourceText | undefined {
  switch (codeOwners.kind) {
    case 'unread':
      return undefined;
    case 'absent':
      return sourceText({ path: '', text: '' });
    case 'unusable':
      return sourceText({ path: codeOwners.path, text: codeOwners.reason });
    case 'file':
      return sourceText(codeOwners);
  }
}
