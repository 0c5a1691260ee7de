import { type Purpose, subscriptionsOf } from '../../facts/purposes.ts';
import type { GiteaName } from './differences.ts';

/**
 * The events that a webhook of Gitea or Forgejo needs: what `gatehouse setup` and the tests ask for, what is looked for
 * in a list of webhooks, and what docs/connect-gitea.md lists.
 */

export interface HookEvent {
  /** The name to ask for it by. */
  readonly name: string;
  /** The API then lists it by one of these names. Without them, by the same name. */
  readonly listedAs?: readonly string[];
  /** In the forge's settings. */
  readonly title: string;
  /** What needs it beside every review. */
  readonly for?: Purpose;
}

const EVENTS: readonly HookEvent[] = [
  { name: 'push', title: 'Push' },
  // `pull_request` would ask for all kinds of events of pull requests.
  { name: 'pull_request_only', listedAs: ['pull_request'], title: 'Pull Request' },
  { name: 'pull_request_label', title: 'Pull Request Labeled' },
  // Gitea 1.26 lists it by the same name; versions before, and Forgejo, list its kinds.
  {
    name: 'pull_request_review',
    listedAs: ['pull_request_review', 'pull_request_review_approved'],
    title: 'Pull Request Reviewed',
  },
  { name: 'pull_request_sync', title: 'Pull Request Synchronized' },
  { name: 'pull_request_comment', title: 'Pull Request Comment', for: 'commands' },
];

export function hookEvents(forge: GiteaName): readonly HookEvent[] {
  return [...EVENTS, ...subscriptionsOf(forge)];
}

/** Those that a webhook does not have, by the events that the API lists of it. */
export function missingHookEvents(forge: GiteaName, listed: readonly string[]): readonly HookEvent[] {
  return hookEvents(forge).filter(({ name, listedAs = [name] }) => !listedAs.some((as) => listed.includes(as)));
}
