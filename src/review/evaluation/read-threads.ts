import { hash } from 'node:crypto';
import type { CommentThreads } from '../../forges/port/comment-threads.ts';
import type { Forge } from '../../forges/port/forge.ts';
import { ForgeError } from '../../forges/port/forge-error.ts';
import type { PullRequestRef } from '../../forges/port/pull-request.ts';

/**
 * The conversations that Gatehouse did not begin. Its own comments at lines go when what they report is gone: a
 * verdict must not depend on itself.
 */
export async function readOthersThreads(forge: Forge, ref: PullRequestRef, headSha: string): Promise<CommentThreads> {
  const [self, { threads, complete }] = await Promise.all([forge.self(), readThreads(forge, ref, headSha)]);
  return { threads: threads.filter(({ author }) => author.toLowerCase() !== self.toLowerCase()), complete };
}

/**
 * Incomplete where asking again would bring no other answer, such as a missing permission or a list that is too long.
 */
async function readThreads(forge: Forge, ref: PullRequestRef, headSha: string): Promise<CommentThreads> {
  try {
    return await forge.commentThreads(ref, headSha);
  } catch (error) {
    if (error instanceof ForgeError && ['refused', 'invalid', 'too-large'].includes(error.kind)) {
      return { threads: [], complete: false };
    }
    throw error;
  }
}

/** The same for the same conversations in any order. In hexadecimal. Where a line is now does not matter. */
export function threadsDigest({ threads, complete }: CommentThreads): string {
  const sorted = threads.map(({ line: _, ...thread }) => JSON.stringify(Object.entries(thread).toSorted())).sort();
  return hash('sha256', JSON.stringify([complete, sorted]));
}
