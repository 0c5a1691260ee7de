import { hash } from 'node:crypto';
import type { Conversations } from '../../forges/port/conversations.ts';
import type { Forge } from '../../forges/port/forge.ts';
import { ForgeError } from '../../forges/port/forge-error.ts';
import type { PullRequestRef } from '../../forges/port/pull-request.ts';

/**
 * The conversations that Gatehouse did not begin. Its own comments at lines go when what they report is gone: a
 * verdict must not depend on itself.
 */
export async function readOthersConversations(
  forge: Forge,
  ref: PullRequestRef,
  headSha: string,
): Promise<Conversations> {
  const [self, { conversations, complete }] = await Promise.all([forge.self(), readConversations(forge, ref, headSha)]);
  return { conversations: conversations.filter(({ author }) => author.toLowerCase() !== self.toLowerCase()), complete };
}

/**
 * Incomplete where asking again would bring no other answer, such as a missing permission or a list that is too long.
 */
async function readConversations(forge: Forge, ref: PullRequestRef, headSha: string): Promise<Conversations> {
  try {
    return await forge.conversations(ref, headSha);
  } catch (error) {
    if (error instanceof ForgeError && ['refused', 'invalid', 'too-large'].includes(error.kind)) {
      return { conversations: [], complete: false };
    }
    throw error;
  }
}

/** The same for the same conversations in any order. In hexadecimal. Where a line is now does not matter. */
export function conversationsDigest({ conversations, complete }: Conversations): string {
  const sorted = conversations
    .map(({ line: _, ...conversation }) => JSON.stringify(Object.entries(conversation).toSorted()))
    .sort();
  return hash('sha256', JSON.stringify([complete, sorted]));
}
