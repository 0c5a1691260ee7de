import type { Permission } from '../../facts/fact.ts';
import { type Purpose, permissionsOf, subscriptionsOf } from '../../facts/purposes.ts';

/**
 * The permissions and events of Gatehouse's GitHub App: what `gatehouse setup` asks for, what is checked at the start
 * and at each resync, and what docs/connect-github.md lists.
 */

export interface AppPermission extends Permission {
  /** What needs it. GitHub always includes `always`. */
  readonly for: 'always' | 'every-review' | Purpose;
}

export const APP_PERMISSIONS: readonly AppPermission[] = [
  { key: 'metadata', access: 'read', title: 'Metadata', of: 'repository', for: 'always' },
  { key: 'contents', access: 'read', title: 'Contents', of: 'repository', for: 'every-review' },
  { key: 'pull_requests', access: 'write', title: 'Pull requests', of: 'repository', for: 'every-review' },
  { key: 'statuses', access: 'write', title: 'Commit statuses', of: 'repository', for: 'every-review' },
  { key: 'merge_queues', access: 'read', title: 'Merge queues', of: 'repository', for: 'merge-queue' },
  { key: 'issues', access: 'read', title: 'Issues', of: 'repository', for: 'commands' },
  ...permissionsOf('github'),
];

export interface AppEvent {
  /** GitHub's name in its API, and in the header of a webhook. */
  readonly key: string;
  /** GitHub's name in its settings. */
  readonly title: string;
  /** What needs it. */
  readonly for: 'every-review' | Purpose;
}

export const APP_EVENTS: readonly AppEvent[] = [
  { key: 'pull_request', title: 'Pull request', for: 'every-review' },
  { key: 'pull_request_review', title: 'Pull request review', for: 'every-review' },
  { key: 'push', title: 'Push', for: 'every-review' },
  { key: 'issue_comment', title: 'Issue comment', for: 'commands' },
  { key: 'merge_group', title: 'Merge group', for: 'merge-queue' },
  { key: 'repository', title: 'Repository', for: 'new-repositories' },
  ...subscriptionsOf('github').map(({ name, title, for: purpose }) => ({ key: name, title, for: purpose })),
];

const LEVELS: readonly (string | undefined)[] = ['read', 'write', 'admin'];

/** Whether an access that was granted, such as `write`, includes the one that is needed. */
export function includesAccess(granted: string | undefined, needed: AppPermission['access']): boolean {
  return LEVELS.indexOf(granted) >= LEVELS.indexOf(needed);
}

/** As in docs/connect-github.md: `Pull requests: read and write`. */
export function permissionName({ title, access }: AppPermission): string {
  return `${title}: ${access === 'read' ? 'read' : 'read and write'}`;
}
