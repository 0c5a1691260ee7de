import * as z from 'zod';
import type { Conversation, Conversations } from '../forges/port/conversations.ts';
import type { Forge } from '../forges/port/forge.ts';
import type { PullRequestRef } from '../forges/port/pull-request.ts';
import { yesNo } from '../forges/port/yes-no.ts';
import { type AtForge, defineFact, type GivenOf, NO_PERMISSIONS, type Webhook } from './fact.ts';
import { AUTHOR, flag, names, text } from './given.ts';

const UNREAD: Conversations = { conversations: [], complete: false };

const conversation = z.strictObject(
  {
    by: text.describe('The login of who began it.'),
    bot: flag.optional().describe('Whether who began it is a bot.'),
    path: text.optional().describe('The file that it is about. Default: a.txt.'),
    outdated: flag
      .nullable()
      .optional()
      .describe('Whether the lines that it is about have changed since; null where the forge does not say.'),
    resolved: flag.nullable().optional().describe('Default: false; null where the forge does not say.'),
    resolved_by: text
      .nullable()
      .optional()
      .describe('The login of who resolved it; null where the forge does not say. Default: the author.'),
    answered_by: names
      .nullable()
      .optional()
      .describe('Logins of who wrote in it later; null where the forge does not tell all. Default: no one.'),
  },
  { error: 'a conversation, such as { by: sally }' },
);

export const givenConversations = {
  author: text.optional().describe('A login. Default: alice.'),
  threads: z
    .array(conversation, { error: 'a list of conversations' })
    .optional()
    .describe('Conversations at lines. Default: none.'),
};

/** A review that approves or rejects starts a review by itself. */
function onlyComments({ review }: Readonly<Record<string, unknown>>): boolean {
  return typeof review === 'object' && review !== null && 'state' in review && review.state === 'commented';
}

function webhook(event: string, actions: readonly string[]): Webhook {
  return { event, actions, starts: 'asking', alsoByGatehouse: true };
}

const GITEA: AtForge = {
  permissions: NO_PERMISSIONS,
  // Resolving sends none.
  webhooks: [webhook('pull_request_comment', ['reviewed']), webhook('pull_request_review_comment', ['reviewed'])],
};

/**
 * The conversations that Gatehouse did not begin. Its own comments at lines go when what they report is gone: a
 * verdict must not depend on itself.
 */
export const conversations = defineFact({
  name: 'conversations',
  unread: UNREAD,
  unreadAs: 'conversations',
  unreadAfter: ['refused', 'invalid', 'too-large'],
  dependsOn: [],
  read: ({ forge, pullRequest }) => readOthers(forge, pullRequest, pullRequest.head.sha),
  change: 'unseen',
  forges: {
    github: {
      permissions: NO_PERMISSIONS,
      webhooks: [
        {
          ...webhook('pull_request_review_thread', ['resolved', 'unresolved']),
          subscription: { name: 'pull_request_review_thread', title: 'Pull request review thread' },
        },
        webhook('pull_request_review_comment', ['created', 'deleted']),
        { ...webhook('pull_request_review', ['submitted', 'edited']), when: onlyComments },
      ],
    },
    gitea: GITEA,
    forgejo: GITEA,
  },
  given: {
    shape: {
      ...givenConversations,
      threads_complete: flag.optional().describe('false: there are more conversations, which could not be read.'),
    },
    of: ({ threads_complete: complete = true, ...from }) => ({ conversations: conversationsGiven(from), complete }),
  },
});

export function conversationsGiven({
  author = AUTHOR,
  threads = [],
}: GivenOf<typeof givenConversations>): readonly Conversation[] {
  return threads.map((one, index) => conversationOf(one, index, author));
}

async function readOthers(forge: Forge, ref: PullRequestRef, headSha: string): Promise<Conversations> {
  const [self, { conversations: all, complete }] = await Promise.all([forge.self(), forge.conversations(ref, headSha)]);
  const isOthers = (login: string) => login.toLowerCase() !== self.toLowerCase();
  const others = all.filter(({ author }) => isOthers(author));
  return {
    conversations: others.map((one) => ({ ...one, answeredBy: one.answeredBy?.filter(isOthers) ?? null })),
    complete,
  };
}

function conversationOf(
  { by, bot, path, outdated, resolved, resolved_by, answered_by = [] }: z.input<typeof conversation>,
  index: number,
  author: string,
): Conversation {
  const isResolved = resolved === undefined ? resolved_by !== undefined : resolved;
  return {
    author: by,
    bot: bot ?? false,
    path: path ?? 'a.txt',
    line: index + 1,
    outdated: yesNo(outdated === undefined ? false : outdated),
    resolved: yesNo(isResolved),
    resolvedBy: isResolved ? (resolved_by === undefined ? author : resolved_by) : null,
    answeredBy: answered_by,
  };
}
