import type { HookReader } from './hooks.ts';
import type { BranchProtection } from './protection.ts';
import type { RepositoryNow } from './pull-request.ts';

/** What only some policies, or repositories, need beside what every review needs. */
export type Extra = 'checks' | 'commands' | 'merge-queue' | 'requested-reviews' | 'teams';

/** What the credentials allow in a repository. */
export interface Grants {
  /** The names of the scopes or permissions that are missing. */
  readonly missing: readonly string[];
  /** Of some the forge does not say whether they are there: why. */
  readonly unknown?: string;
}

export interface InspectedRepository extends RepositoryNow {
  readonly archived: boolean;
  /** Whether Gatehouse's account may write to it; undefined where that is not a matter of the account. */
  readonly mayWrite: boolean | undefined;
}

/** How the forge is set up for Gatehouse: for `gatehouse doctor`. Nothing is written, and no review needs it. */
export interface Inspection {
  readonly hooks: HookReader;
  /** Undefined when there is no such repository, or Gatehouse may not see it. */
  repository(name: string): Promise<InspectedRepository | undefined>;
  /**
   * Whether the credentials have what every review needs, and what `extras` need beside it: in a repository, or as far as it is
   * the same everywhere.
   */
  grants(repository: string | undefined, extras: readonly Extra[]): Promise<Grants>;
  /** Undefined when there is no such branch. */
  protection(repository: string, branch: string): Promise<BranchProtection | undefined>;
}
