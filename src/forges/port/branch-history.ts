/** What the ledger reads of a branch that has moved. Types only. */

export interface BranchCommit {
  readonly sha: string;
  readonly parents: readonly string[];
  /** Login, or the name in the commit where the forge knows no account. */
  readonly committer: string;
  /** Subject and body. */
  readonly message: string;
  /** Whether the forge itself made it, by its signature. */
  readonly byForge: boolean;
}

/** A merged pull request, as the commit that it brought names it. */
export interface BroughtBy {
  readonly number: number;
  readonly author: string;
  readonly baseBranch: string;
  /** Undefined: the forge does not have it any more. */
  readonly head: string | undefined;
  /** What it became on its base branch; undefined where the forge does not say. */
  readonly mergeCommit: string | undefined;
  /** By the clock of the forge: nobody who pushes a commit chooses it. */
  readonly mergedAt: string;
  /** Login; undefined where the forge does not say. */
  readonly mergedBy: string | undefined;
  /** Whether a merge queue merged it, and not a person. */
  readonly byQueue: boolean;
}

export interface BranchHistory {
  /**
   * What `head` has and `base` has not, in no order. Undefined: one of them is not there any more, or there is too much
   * to be listed.
   */
  since(repository: string, base: string, head: string): Promise<readonly BranchCommit[] | undefined>;
  /** Whether the pull request of every commit is named, or only of the one that it became. */
  readonly namesEvery: boolean;
  /**
   * The merged pull requests of the repository that a commit came with. Its id counts: it may be renamed meanwhile.
   * Gitea and Forgejo name one only for the commit that it became, and not for the others of a rebase.
   */
  broughtBy(repository: { readonly id: string; readonly name: string }, sha: string): Promise<readonly BroughtBy[]>;
}
