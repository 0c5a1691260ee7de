import type { RepositoryNow } from './pull-request.ts';
import type { YesNo } from './yes-no.ts';

/**
 * How a forge is set up for Gatehouse: for the commands that look at an installation. No review needs it. Types only.
 */

/** What the credentials allow in a repository. */
export interface Grants {
  /** The names of the scopes or permissions that are missing. */
  readonly missing: readonly string[];
  /** Why the forge does not say whether some are there. */
  readonly unknown?: string;
}

export interface InspectedRepository extends RepositoryNow {
  readonly archived: boolean;
  /** Whether Gatehouse's account may write to it; unknown also where that is not a matter of the account. */
  readonly mayWrite: YesNo;
}

/** Where a webhook is set. `owner`: of the organisation, or of the person whose repository it is. */
export type HookPlace = 'app' | 'repository' | 'owner' | 'instance';

export interface Hook {
  readonly place: HookPlace;
  /** As it was typed in: it may have a password in it. */
  readonly url: string;
  readonly active: YesNo;
  /** `json`, or `form`. */
  readonly contentType: string;
  /** As the forge's API names them; `*` is all of them. */
  readonly events: readonly string[];
  /** Whether it has a secret to sign with. */
  readonly hasSecret: YesNo;
}

/** The webhooks of one place. `hidden`: the credentials may not list them. */
export type HookList =
  | { readonly place: HookPlace; readonly kind: 'listed'; readonly hooks: readonly Hook[] }
  | { readonly place: HookPlace; readonly kind: 'hidden' };

export interface HookReader {
  /** One list for each place whose webhooks can be about this repository. */
  lists(repository: string): Promise<readonly HookList[]>;
  /**
   * The events that are needed and are not among these, by their titles in the forge's settings. `extras`: what needs
   * some beside every review, as src/facts/purposes.ts names it.
   */
  missingEvents(events: readonly string[], extras: readonly string[]): readonly string[];
}

/** A commit status without which a forge does not merge into a branch. */
export interface RequiredStatus {
  readonly context: string;
  /** The App that must have set it, where only one counts. GitHub's alone. */
  readonly appId?: string;
}

/** What a merge into a branch takes, as far as it is about commit statuses. */
export interface BranchProtection {
  readonly required: readonly RequiredStatus[];
  /** Whether pull requests go through a merge queue. */
  readonly hasMergeQueue: boolean;
}

/** How the forge is set up for Gatehouse: for `gatehouse doctor`. Nothing is written, and no review needs it. */
export interface Inspection {
  readonly hooks: HookReader;
  /** Undefined when there is no such repository, or Gatehouse may not see it. */
  repository(name: string): Promise<InspectedRepository | undefined>;
  /**
   * Whether the credentials have what every review needs, and what `extras` need beside it: in a repository, or as far
   * as it is the same everywhere.
   */
  grants(repository: string | undefined, extras: readonly string[]): Promise<Grants>;
  /** Names of a repository's teams whose members Gatehouse has to see to know who may write, and does not. */
  hiddenTeams(repository: string): Promise<readonly string[]>;
  /** Undefined when there is no such branch. */
  protection(repository: string, branch: string): Promise<BranchProtection | undefined>;
}
