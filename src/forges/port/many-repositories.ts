/** How a resync looks at many repositories without asking for each of them. Types only. */

import type { MergeGroupRef } from './events.ts';
import type { ForgeError } from './forge-error.ts';
import type { PostedStatus } from './postings.ts';
import type { PullRequest } from './pull-request.ts';

/** What a stored verdict is compared with. */
export type ListedPullRequest = Pick<PullRequest, 'repository' | 'number' | 'archived' | 'updatedAt'> & {
  readonly base: Pick<PullRequest['base'], 'branch'>;
  readonly head: Pick<PullRequest['head'], 'sha'>;
};

/** All that a resync has to know of one repository. */
export interface RepositoryOverview {
  /** All that are open. */
  readonly pullRequests: readonly ListedPullRequest[];
  /** The commits at the tips of their base branches; null: there is no such branch. */
  readonly baseCommits: ReadonlyMap<string, string | null>;
  /** Those that the merge queues of its branches have made. */
  readonly mergeGroups: readonly MergeGroupRef[];
  /** The newest of each name, of the merge groups' commits. */
  readonly statuses: ReadonlyMap<string, readonly PostedStatus[]>;
}

/** A commit whose statuses are read. */
export interface RepositoryHead {
  readonly repository: string;
  readonly headSha: string;
}

/** Where one request shows the present state of many repositories: GitHub. */
export interface Overviews {
  /** `owner`: each owner is asked for with other credentials, and has a rate limit of its own. */
  readonly scope: 'owner' | 'any';
  /** How many repositories one request is about at most. */
  readonly maxRepositories: number;
  /**
   * By the names asked for. One that is left out has to be looked at by itself: it is gone, renamed, or has too much to
   * show.
   */
  read(repositories: readonly string[]): Promise<ReadonlyMap<string, RepositoryOverview>>;
}

/** A repository as a list of the forge names it: its id stays when it is renamed. */
export interface ListedRepository {
  readonly id: string;
  readonly name: string;
}

export interface RepositoryList {
  readonly repositories: readonly ListedRepository[];
  /** The forge's own time, when the list began. */
  readonly asOf: Date;
}

/** Where the credentials may set statuses. Archived ones are left out. */
export interface WritableRepositories {
  readonly names: readonly string[];
  /** There are more than were asked for. */
  readonly more: boolean;
  /** Why some could not be listed. */
  readonly failures?: readonly ListingFailure[];
}

export interface ListingFailure {
  /** Whose repositories they are; undefined: unknown. */
  readonly owner: string | undefined;
  readonly error: ForgeError;
}

/** Where the forge lists what has changed in all repositories that Gatehouse can see: Gitea and Forgejo. */
export interface ChangeList {
  /** All repositories that {@link ChangeList.changedSince} covers. */
  all(): Promise<RepositoryList>;
  /** Those in which a pull request has changed, or a branch was pushed to. `since` is a time of the forge. */
  changedSince(since: Date): Promise<RepositoryList>;
}
