import * as z from 'zod';
import type { Question, Questions } from '../forges/port/question.ts';
import { type AtForge, defineFact, NO_PERMISSIONS, type Webhook } from './fact.ts';
import { flag, names, text } from './given.ts';

export interface Triage {
  /** Logins. Undefined where the forge does not say. */
  readonly assignees: readonly string[] | undefined;
  /** Its title; null: none. Undefined where the forge does not say. */
  readonly milestone: string | null | undefined;
}

type Part = 'assignees' | 'milestone';

const PATH = '/repos/{owner}/{repo}/pulls/{number}';
const milestone = z
  .object({ title: z.string() })
  .nullish()
  .transform((found) => (found === undefined ? undefined : (found?.title ?? null)));

const ON_GITEA: Question<Triage> = {
  path: PATH,
  shape: z.object({
    // Null is an empty list there.
    assignees: z
      .array(z.object({ login: z.string() }))
      .nullish()
      .transform((found) => (found === null ? [] : found?.map(({ login }) => login))),
    milestone,
  }),
};

/** Where each forge says it. */
export const TRIAGE: Questions<Triage> = {
  github: {
    path: PATH,
    shape: z.object({
      // An agent may be assigned, too: it is no person.
      assignees: z
        .array(z.object({ login: z.string(), type: z.string() }))
        .nullish()
        .transform((found) => found?.flatMap(({ login, type }) => (type === 'Bot' ? [] : [login]))),
      milestone,
    }),
  },
  gitea: ON_GITEA,
  forgejo: ON_GITEA,
};

const UNREAD = undefined as Triage | undefined;

const ASSIGNED: Webhook = { event: 'pull_request', actions: ['assigned', 'unassigned'], starts: 'asking' };
const MILESTONED: Webhook = { event: 'pull_request', actions: ['milestoned', 'demilestoned'], starts: 'asking' };

const GITEA: AtForge = {
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
  unreadAs: 'assignees and a milestone',
  unreadAfter: [],
  dependsOn: [],
  read: ({ forge, pullRequest }, _parts: readonly Part[]) => forge.ask(pullRequest, TRIAGE),
  change: 'unseen',
  forges: {
    github: { permissions: NO_PERMISSIONS, webhooks: [ASSIGNED, MILESTONED] },
    gitea: GITEA,
    forgejo: GITEA,
  },
  given: {
    shape: {
      assignees: names.optional().describe('Logins. Default: none.'),
      milestone: text.optional().describe('Its title. Default: none.'),
      triage_unread: flag.optional().describe('true: assignees and milestone could not be read.'),
    },
    of: ({ assignees = [], milestone: title = null, triage_unread }) =>
      triage_unread === true ? UNREAD : { assignees, milestone: title },
  },
});
