import type { PullRequest, PullRequestRef } from './pull-request.ts';

/** The pull requests of a repository that were merged. */
export interface MergedPullRequests {
  /** For commands that judge what has been. Undefined when there is no such repository, or Gatehouse may not see it. */
  list(repository: string, count: number): Promise<MergedList | undefined>;
  /** Undefined unless it is merged. */
  of(ref: PullRequestRef): Promise<Merge | undefined>;
  /**
   * The number of a pull request that was merged into `branch` and that the forge names for a commit: on Gitea and
   * Forgejo only for the one that it became, not for the others that it brought. The repository's id counts: it may be
   * renamed meanwhile.
   */
  broughtBy(
    repository: { readonly id: string; readonly name: string },
    branch: string,
    sha: string,
  ): Promise<number | undefined>;
}

export interface MergedList {
  /** Those merged last, the newest first. */
  readonly merged: readonly MergedPullRequest[];
  /** Closed ones that were looked at; there are more, and what is missing may be among them. */
  readonly cutAt?: number;
}

export interface MergedPullRequest {
  /**
   * As it is now: title, description and labels may have been changed since, and `head` may be the branch as it is now.
   */
  readonly pullRequest: PullRequest;
  readonly mergedAt: string;
}

/** A merge, as the forge tells of it afterwards. */
export interface Merge {
  /** The forge's id of the repository. */
  readonly repositoryId: string;
  readonly baseBranch: string;
  /** Undefined: the forge no longer has it. */
  readonly head: string | undefined;
  /** What it became on the base branch; undefined where the forge does not say. */
  readonly mergeCommit: string | undefined;
  /** By the forge's clock, in whole seconds: nobody who pushes a commit chooses it. */
  readonly mergedAt: string;
  /** Login; undefined where the forge does not say. */
  readonly mergedBy: string | undefined;
}
