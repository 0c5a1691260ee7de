import * as z from 'zod';
import type { RequestedReviews } from '../forges/port/pull-request.ts';
import { type AtForge, defineFact, NO_PERMISSIONS, type Subscription, type Webhook } from './fact.ts';
import { AUTHOR, flag, names, text } from './given.ts';

const UNREAD = undefined as RequestedReviews | undefined;

const withdrawn = z.strictObject(
  {
    of: text.describe('A login, or a team (@organisation/team).'),
    by: text.optional().describe('The login of who withdrew it. Default: the author.'),
    requested_by: text.optional().describe('The login of who requested it. Default: the author.'),
  },
  { error: 'a request, such as { of: bob }' },
);

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
  unreadAfter: ['invalid', 'too-large'],
  dependsOn: [],
  read: ({ forge, pullRequest }) => forge.requestedReviews(pullRequest),
  change: 'updated-at',
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
      requests_withdrawn: z
        .array(withdrawn, { error: 'a list of requests' })
        .optional()
        .describe('Requests of a review that were withdrawn before it was given. Default: none.'),
      requested_unread: flag.optional().describe('true: the requested reviews could not be read.'),
      author: text.optional().describe('A login. Default: alice.'),
    },
    of({ requested = [], requests_withdrawn = [], requested_unread, author = AUTHOR }) {
      if (requested_unread === true) {
        return UNREAD;
      }
      const teams = requested.filter((name) => name.startsWith('@'));
      return {
        people: requested.filter((name) => !teams.includes(name)),
        teams: teams.map((team) => team.slice(1)),
        history: requests_withdrawn.flatMap(({ of, by = author, requested_by = author }) => {
          const reviewer = of.replace(/^@/, '');
          return [
            { kind: 'requested' as const, reviewer, by: requested_by },
            { kind: 'withdrawn' as const, reviewer, by },
          ];
        }),
      };
    },
  },
});
