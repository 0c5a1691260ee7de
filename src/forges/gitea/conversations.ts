import type { z } from 'zod';
import type { Conversation, Conversations } from '../port/conversations.ts';
import { ForgeError } from '../port/forge-error.ts';
import type { PullRequestRef } from '../port/pull-request.ts';
import { yesNo } from '../port/yes-no.ts';
import { type GiteaAccount, path, SHORT } from './client.ts';
import { pullPath } from './read.ts';
import { reviewList } from './reviews.ts';
import * as shapes from './shapes.ts';

/** The state of a review that was not submitted. */
const PENDING = 'PENDING';

/** Reviews whose comments are read, one request each. */
const MAX_REVIEWS = 50;

type Review = z.output<typeof shapes.reviews>[number];
type Comment = z.output<typeof shapes.threadComments>[number];

/**
 * There is no list of conversations: the comments of each review are read. Those of Gatehouse's own reviews are not,
 * since it began their conversations.
 */
export async function conversations(
  client: GiteaAccount,
  ref: PullRequestRef,
  headSha: string,
): Promise<Conversations> {
  const [self, reviews] = [await client.self(), await reviewList(client, ref)];
  const withComments = reviews.filter(
    ({ user, state, comments_count }) => user !== self && state !== PENDING && comments_count > 0,
  );
  const conversations: Conversation[] = [];
  for (const review of withComments.slice(0, MAX_REVIEWS)) {
    const route = `${pullPath(ref)}${path('reviews', review.id)}/comments`;
    // This list has no pages.
    const comments = await client.ask(route, shapes.threadComments, { maxStringBytes: SHORT });
    if (comments === undefined) {
      // Deleted meanwhile, or not shown: the next look at the list of reviews tells.
      throw new ForgeError('unavailable', `GET ${route}: the comments of a listed review are not found`, {
        status: 404,
      });
    }
    conversations.push(...threadsOf(review, comments, headSha));
  }
  return { conversations, complete: withComments.length <= MAX_REVIEWS };
}

/**
 * Comments of one review at one line are one conversation, and the first of them says whether it is resolved: answers
 * belong to the review that they answer. The list is in no order.
 */
function threadsOf(review: Review, comments: readonly Comment[], headSha: string): readonly Conversation[] {
  const oldestFirst = comments.toSorted((one, other) => (BigInt(one.id) < BigInt(other.id) ? -1 : 1));
  const grouped = Map.groupBy(oldestFirst, (one) => JSON.stringify([one.path, one.position, one.original_position]));
  return [...grouped.values()].flatMap(([first, ...answers]) =>
    first ? [threadOf(review, first, answers, headSha)] : [],
  );
}

function threadOf(
  review: Review,
  { user, path: file, position, resolver }: Comment,
  answers: readonly Comment[],
  headSha: string,
): Conversation {
  return {
    author: user,
    bot: false,
    path: file,
    line: position || null,
    // The forge folds away what is about lines that have changed, and does not say so. Nothing changes without a push.
    outdated: review.commit_id === headSha ? 'no' : 'unknown',
    resolved: yesNo(resolver === undefined ? undefined : resolver !== null),
    resolvedBy: resolver ?? null,
    answeredBy: answers.map((answer) => answer.user),
  };
}
