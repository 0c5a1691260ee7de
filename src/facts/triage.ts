import type { Triage } from '../forges/port/pull-request.ts';
import { type AtForge, defineFact, NO_PERMISSIONS, type Webhook } from './fact.ts';
import { flag, names, text } from './given.ts';

type Part = 'assignees' | 'milestone';

const UNREAD = undefined as Triage | undefined;

const ASSIGNED: Webhook<Part> = { event: 'pull_request', actions: ['assigned', 'unassigned'], starts: 'asking' };
const MILESTONED: Webhook<Part> = { event: 'pull_request', actions: ['milestoned', 'demilestoned'], starts: 'asking' };

const GITEA: AtForge<Part> = {
  requests: { always: 1 },
  permissions: NO_PERMISSIONS,
  webhooks: [
    { ...ASSIGNED, subscription: { name: 'pull_request_assign', title: 'Pull Request Assigned' } },
    { ...MILESTONED, subscription: { name: 'pull_request_milestone', title: 'Pull Request Milestoned' } },
  ],
};

/** Who is assigned, and the milestone. Undefined: unread. */
export const triage = defineFact({
  name: 'triage',
  unread: UNREAD,
  unreadAs: 'the assignees and the milestone',
  unreadAfter: [],
  dependsOn: [],
  read: ({ forge, pullRequest }, _parts: readonly Part[]) => forge.triage(pullRequest),
  change: {
    noticedBy: 'digest',
    plain: (value) => value && [value.assignees.toSorted(), value.milestone],
    readAgain: ({ forge, repository, number }) => forge.triage({ repository, number }),
  },
  past: { atHead: false, asOfToday: (parts) => parts, read: 'as-now' },
  forges: {
    github: { requests: { always: 1 }, permissions: NO_PERMISSIONS, webhooks: [ASSIGNED, MILESTONED] },
    gitea: GITEA,
    forgejo: GITEA,
  },
  given: {
    shape: {
      assignees: names.optional().describe('Logins. Default: none.'),
      milestone: text.optional().describe('Its title. Default: none.'),
      triage_unread: flag.optional().describe('true: assignees and milestone could not be read.'),
    },
    of: ({ assignees = [], milestone = null, triage_unread }) =>
      triage_unread === true ? UNREAD : { assignees, milestone },
  },
});
