import type { ForgeName } from '../forges/port/forges.ts';
import type { PullRequest } from '../forges/port/pull-request.ts';
import { yesNo } from '../forges/port/yes-no.ts';
import { defineGiven, type Webhook } from './fact.ts';
import { AUTHOR, flag, names, SHAS, text } from './given.ts';

/** What a predicate looks at of the pull request itself that can change later without a trace. */
export type PullRequestPart = 'title' | 'description' | 'labels' | 'draft';

const GITEA: readonly Webhook[] = [
  {
    event: 'pull_request',
    actions: [
      'opened',
      'reopened',
      'closed',
      'synchronized',
      'edited',
      'label_updated',
      'label_cleared',
      'ready_for_review',
    ],
    starts: 'review',
  },
  { event: 'pull_request_sync', actions: 'any action', starts: 'review' },
  { event: 'pull_request_label', actions: 'any action', starts: 'review' },
];

/**
 * The pull request itself: always read, before any fact, and compared as a whole. A closed one ends its review, and can
 * change the status of another one with the same head.
 */
export const pullRequestFact = {
  webhooks: {
    github: [
      {
        event: 'pull_request',
        actions: [
          'opened',
          'reopened',
          'closed',
          'synchronize',
          'edited',
          'labeled',
          'unlabeled',
          'ready_for_review',
          'converted_to_draft',
        ],
        starts: 'review',
      },
    ],
    gitea: GITEA,
    forgejo: GITEA,
  } satisfies Record<ForgeName, readonly Webhook[]>,
  given: defineGiven({
    shape: {
      title: text.optional().describe("Default: 'feat: a title'."),
      body: text.optional().describe('The description. Default: empty.'),
      author: text.optional().describe('A login. Default: alice.'),
      first_time: flag.optional().describe('Whether the author contributes for the first time. Default: unknown.'),
      draft: flag.optional().describe('Default: false.'),
      labels: names.optional().describe('Default: none.'),
      branch: text.optional().describe('The branch with the change. Default: topic.'),
      fork: flag.optional().describe('Whether it comes from a fork. Default: false.'),
      base: text.optional().describe('The branch that it would be merged into. Default: main.'),
      repository: text.optional().describe('As owner/name. Default: octo/example.'),
    },
    of: (from): PullRequest => ({
      repository: from.repository ?? 'octo/example',
      number: 7,
      url: 'https://forge.test/octo/example/pulls/7',
      state: 'open',
      title: from.title ?? 'feat: a title',
      body: from.body ?? '',
      author: from.author ?? AUTHOR,
      firstTime: yesNo(from.first_time),
      draft: yesNo(from.draft ?? false),
      labels: from.labels ?? [],
      archived: false,
      updatedAt: '2026-01-01T00:00:00Z',
      base: { branch: from.base ?? 'main' },
      head: {
        branch: from.branch ?? 'topic',
        sha: SHAS.head,
        repository: from.fork === true ? 'alice/example' : (from.repository ?? 'octo/example'),
      },
    }),
  }),
};

export function pullRequestOf(from: Parameters<typeof pullRequestFact.given.of>[0] = {}): PullRequest {
  return pullRequestFact.given.of(from);
}
