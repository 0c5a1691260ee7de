import type { PullRequest } from './pull-request.ts';

/** The pull requests of a repository that were merged: for commands that judge what has been. */
export interface MergedPullRequests {
  /** Undefined when there is no such repository, or Gatehouse may not see it. */
  list(repository: string, count: number): Promise<MergedList | undefined>;
  /** The commit that was merged; undefined when the forge no longer has it. */
  headOf(merged: MergedPullRequest): Promise<string | undefined>;
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
  /** What it became on the base branch; undefined where the forge does not say. */
  readonly mergeCommit: string | undefined;
}
