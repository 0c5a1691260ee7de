import type { RequestedReviews } from '../forges/port/pull-request.ts';
import { type AtForge, defineFact, NO_PERMISSIONS, type Subscription, type Webhook } from './fact.ts';
import { flag, names } from './given.ts';

const UNREAD = undefined as RequestedReviews | undefined;

function webhook(subscription?: Subscription): Webhook {
  return {
    event: 'pull_request',
    actions: ['review_requested', 'review_request_removed'],
    starts: 'asking',
    ...(subscription && { subscription }),
  };
}

const GITEA: AtForge = {
  permissions: NO_PERMISSIONS,
  webhooks: [webhook({ name: 'pull_request_review_request', title: 'Pull Request Review Requested' })],
};

/** Whose review is requested and not given. Undefined: unread. */
export const requestedReviews = defineFact({
  name: 'requestedReviews',
  unread: UNREAD,
  unreadAs: 'requested reviews',
  unreadAfter: [],
  dependsOn: [],
  read: ({ forge, pullRequest }) => forge.requestedReviews(pullRequest),
  change: { noticedBy: 'updated-at' },
  forges: {
    github: { permissions: NO_PERMISSIONS, webhooks: [webhook()] },
    gitea: GITEA,
    forgejo: GITEA,
  },
  given: {
    shape: {
      requested: names
        .optional()
        .describe('Logins and teams (@organisation/team) whose review is requested and not given.'),
      requested_unread: flag.optional().describe('true: the requested reviews could not be read.'),
    },
    of({ requested = [], requested_unread }) {
      if (requested_unread === true) {
        return UNREAD;
      }
      const teams = requested.filter((name) => name.startsWith('@'));
      return { people: requested.filter((name) => !teams.includes(name)), teams: teams.map((team) => team.slice(1)) };
    },
  },
});
