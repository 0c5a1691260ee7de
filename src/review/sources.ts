import { hash } from 'node:crypto';

/**
 * What a verdict was judged by, as SHA-256 digests: when one of them changes, the pull request is to be judged again.
 * Absent is what there was not, or what was not needed.
 */
export interface VerdictSources {
  /** The base branch's commit at which the policy and CODEOWNERS were read. */
  readonly baseSha: string;
  readonly policyDigest?: string;
  /** Where the repository has no policy of its own. */
  readonly operatorPolicyDigest?: string;
  /** `owner/repository@ref` as the policy says it. */
  readonly extendsName?: string;
  readonly extendsDigest?: string;
  /** Of the organisation's baseline, and the commit of the policy repository that it is from. */
  readonly baselineDigest?: string;
  readonly baselineCommit?: string;
  readonly codeOwnersDigest?: string;
  /** Of what others had reported about the head. */
  readonly checksDigest?: string;
  /** Ids of the comments whose overrides count. Absent where the policy lets nobody override. */
  readonly overrides?: readonly string[];
  /** Whether it depends on the requested reviews. */
  readonly asksRequestedReviews?: boolean;
}

export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/** The path counts too: the same text at another place may mean something else. */
export function digestOf({ path, text }: SourceFile): string {
  return hash('sha256', `${path}\0${text}`);
}

/** A text that a verdict was judged by, under its digest in {@link VerdictSources}. */
export interface SourceText extends SourceFile {
  readonly digest: string;
}

export function sourceText(file: SourceFile): SourceText {
  return { digest: digestOf(file), path: file.path, text: file.text };
}
