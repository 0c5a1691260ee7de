import type { Command } from './command.ts';

/** What a delivery is about, as far as its payload says so in a valid form. */
export interface Subject {
  readonly repository: string | undefined;
  readonly pullRequest: number | undefined;
  /**
   * Repositories that a resync is to look at. A push to somebody's fork is no reason: hooks of a whole forge bring those
   * too.
   */
  readonly resynced: readonly string[];
  /** Whether Gatehouse sees these from now on: their pull requests may have been open for long, and nothing tells of them. */
  readonly appeared: boolean;
  /** Whether it can change the review of its pull request. */
  readonly reviewable: boolean;
  /** The branch that a push has moved. The rules of pull requests into it may have changed. */
  readonly pushedBranch: string | undefined;
  /** What a push moved it from and to, and who pushed. */
  readonly push: PushedCommits | undefined;
  /** The head of a pull request that was pushed or opened, and who pushed. */
  readonly pushedHead: PushedHead | undefined;
  /** The commit about which it tells a change of facts that only some policies ask for. */
  readonly toldCommit: ToldCommit | undefined;
  /** The group of a merge queue for which a status is requested. */
  readonly mergeGroup: MergeGroupRef | undefined;
  /** A comment on a pull request that is a command, or was one. */
  readonly command: CommentedCommand | undefined;
}

export interface PushedCommits {
  /** The id of the repository at the forge, in decimal: it stays when the repository is renamed. */
  readonly repositoryId: string;
  /** Undefined: the branch is new. */
  readonly before: string | undefined;
  readonly after: string;
  /** Login. */
  readonly by: string | undefined;
  /** Whether it is the default branch of a repository that is no fork. */
  readonly isDefault: boolean;
  /** How many commits it brought. */
  readonly count: number;
  /** Whether it took some away, as far as the forge tells: Gitea and Forgejo only where it brought none. */
  readonly isForced: boolean;
}

export interface PushedHead {
  readonly sha: string;
  /** The repository of its branch. Absent: it is gone, or there is no branch. */
  readonly repository?: string;
  /** What it was before. Undefined: not told. */
  readonly from: string | undefined;
  /** Login. Undefined: not told. */
  readonly by: string | undefined;
}

/** A command in a comment, by what happened to the comment. */
export interface CommentedCommand {
  readonly command: Command['kind'];
  readonly change: 'posted' | 'edited' | 'deleted';
  readonly commentId: string;
  /** Login. */
  readonly author: string;
  /** The digest of the comment's text. */
  readonly digest: string;
}

export interface ToldCommit {
  readonly headSha: string;
  /** Names of the facts, sorted. */
  readonly facts: readonly string[];
  /**
   * The login of who caused it, where Gatehouse itself may have; empty when the payload has no valid one. Absent for
   * anything else.
   */
  readonly by?: string;
  /** Who set a commit status; absent for anything else. */
  readonly status?: StatusSetBy;
}

/** The name of a commit status, and the login of who set it; empty when the payload has no valid one. */
export interface StatusSetBy {
  readonly context: string;
  readonly by: string;
}

/** A group of GitHub's merge queue: pull requests into `branch`, merged together at `headSha` for a trial. */
export interface MergeGroupRef {
  readonly branch: string;
  readonly headSha: string;
  /** Without `refs/heads/`; empty when the payload has no valid one. */
  readonly headRef: string;
  /** It was not merged, and never will be. */
  readonly isGone: boolean;
}

/** Which installation of a GitHub App sent a delivery. */
export interface PayloadInstallation {
  /** The account that has it. */
  readonly owner: string;
  readonly id: number;
}
