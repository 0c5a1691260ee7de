import type { Extra } from './inspection.ts';

/** The webhooks that a forge is set to send: for the commands that look at an installation. No review needs them. */

/** Where a webhook is set. `owner`: of the organisation, or of the person whose repository it is. */
export type HookPlace = 'app' | 'repository' | 'owner' | 'instance';

export interface Hook {
  /** Empty for that of an App, which has one. */
  readonly id: string;
  readonly place: HookPlace;
  /** As it was typed in: it may have a password in it. */
  readonly url: string;
  /** Undefined where the forge does not say. */
  readonly active: boolean | undefined;
  /** `json`, or `form`. */
  readonly contentType: string;
  /** As the forge's API names them; `*` is all of them. */
  readonly events: readonly string[];
  /** Whether it has a secret to sign with; undefined where the forge does not say. */
  readonly hasSecret: boolean | undefined;
}

/** The webhooks of one place. `hidden`: the credentials may not list them. */
export type HookList =
  | { readonly place: HookPlace; readonly kind: 'listed'; readonly hooks: readonly Hook[] }
  | { readonly place: HookPlace; readonly kind: 'hidden' };

/** What one delivery was answered. */
export interface HookAnswer {
  /** As its header carried it. */
  readonly deliveryId: string;
  /** HTTP; 0 when there was no answer. */
  readonly status: number;
  readonly at: string;
}

export interface HookReader {
  /** One list for each place whose webhooks can be about this repository. */
  lists(repository: string): Promise<readonly HookList[]>;
  /** The events that are needed and are not among these, by their titles in the forge's settings. */
  missingEvents(events: readonly string[], extras: readonly Extra[]): readonly string[];
  /**
   * What the newest deliveries of a webhook were answered, newest first; undefined when the credentials may not read it.
   * Absent where the forge shows it to nobody over its API.
   */
  answers?(repository: string, hook: Hook): Promise<readonly HookAnswer[] | undefined>;
}
