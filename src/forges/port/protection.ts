/** A commit status without which a forge does not merge into a branch. */
export interface RequiredStatus {
  readonly context: string;
  /** The App that must have set it, where only one counts. GitHub's alone. */
  readonly appId?: string;
}

/** What a merge into a branch takes, as far as it is about commit statuses. */
export interface BranchProtection {
  readonly required: readonly RequiredStatus[];
  /** Whether the forge reads the names as patterns. */
  readonly arePatterns: boolean;
  /** Whether pull requests go through a merge queue. */
  readonly hasMergeQueue: boolean;
}
