import type { z } from 'zod';
import { acceptedWrite, parseAnswer, requireFound } from '../answer.ts';
import { ForgeError } from '../port/forge-error.ts';
import type { InlineComment, OwnInlineComments, OwnReview, PostedInlineComment } from '../port/postings.ts';
import type { PullRequestRef } from '../port/pull-request.ts';
import { type GiteaAccount, type GiteaClient, OWN_COMMENT, path, SHORT } from './client.ts';
import { commits } from './commits.ts';
import type { Differences } from './differences.ts';
import { pullPath } from './read.ts';
import * as shapes from './shapes.ts';

/** The state of a review that was not submitted. */
const PENDING = 'PENDING';

/** Marks a comment that could not be deleted yet, so that it no longer counts as posted. */
const WITHDRAWN = '<!-- gatehouse: withdrawn -->';

interface Own extends PostedInlineComment {
  readonly review: string;
  /** The head that it was posted for. */
  readonly sha: string;
  /** Somebody else commented within the same review; it is not ours alone to delete. */
  readonly answered: boolean;
}

type Review = z.output<typeof shapes.reviews>[number];

export async function ownInlineComments(
  client: GiteaAccount,
  ref: PullRequestRef,
  headSha: string,
): Promise<OwnInlineComments> {
  const self = await client.self();
  const reviews = await ownReviews(client, ref, self);
  const posted = (await commentsOf(client, ref, self, reviews)).filter(isPosted);
  // The forge folds away a comment whose commit a force-push has replaced, and does not say so.
  const isOld = posted.some(({ sha }) => sha !== headSha);
  const commitsNow = new Set([headSha, ...(isOld ? (await commits(client, ref)).map(({ sha }) => sha) : [])]);
  return {
    comments: posted.map(({ id, body, path, line, sha }) => ({
      id,
      body,
      path,
      line: commitsNow.has(sha) ? line : null,
    })),
    reviews: reviews.map((review) => {
      const own = posted.filter((comment) => comment.review === review.id);
      return {
        ...toOwnReview(review),
        commentIds: own.map(({ id }) => id),
        answered: own.some(({ answered }) => answered),
      };
    }),
  };
}

function toOwnReview({ id, state }: Review): OwnReview {
  return { id, pending: state === PENDING, commentIds: [], answered: false };
}

/**
 * The forge answers 500 where a line is past the end of its file, which can be when there was a push meanwhile. That
 * looks like any other failure, so it is tried once more; then the comments are refused.
 */
export async function createInlineComments(
  client: GiteaAccount,
  ref: PullRequestRef,
  headSha: string,
  comments: readonly InlineComment[],
  before: readonly OwnReview[],
) {
  if (comments.length === 0) {
    return;
  }
  try {
    await submitReview(client, ref, headSha, comments, before);
  } catch (error) {
    if (!isServerError(error)) {
      throw error;
    }
    const earlier = new Set(before.map(({ id }) => id));
    const now = await ownReviews(client, ref, await client.self());
    if (now.some(({ id, state }) => state !== PENDING && !earlier.has(id))) {
      return; // It was carried out, and only its answer was lost.
    }
    await submitReview(client, ref, headSha, comments, now.map(toOwnReview)).catch((again: unknown) => {
      throw isServerError(again) ? new ForgeError('invalid', again.message, { cause: again, status: 500 }) : again;
    });
  }
}

async function submitReview(
  client: GiteaClient,
  ref: PullRequestRef,
  headSha: string,
  comments: readonly InlineComment[],
  before: readonly OwnReview[],
) {
  // An interrupted creation leaves a pending review behind, invisible to others, and the forge would submit its
  // comments along with ours.
  for (const { id } of before.filter(({ pending }) => pending)) {
    await client.write('DELETE', reviewPath(ref, id), undefined, true);
  }
  const route = `${pullPath(ref)}/reviews`;
  const answer = await client.write('POST', route, {
    commit_id: headSha,
    event: 'COMMENT',
    body: '',
    comments: comments.map(({ path, line, body }) => ({ path, new_position: line, old_position: 0, body })),
  });
  parseAnswer(acceptedWrite, answer, `POST ${route}`);
}

function isServerError(error: unknown): error is ForgeError {
  return error instanceof ForgeError && error.status === 500;
}

export async function withdrawInlineComments(
  client: GiteaAccount,
  ref: PullRequestRef,
  ids: readonly string[],
  note: string,
  reviews: readonly OwnReview[],
) {
  const { differences } = client;
  const leaving = new Set(ids);
  for (const { id: review, commentIds, answered } of reviews) {
    const wanted = commentIds.filter((id) => leaving.has(id));
    if (wanted.length === 0) {
      continue;
    }
    if (wanted.length === commentIds.length && !answered) {
      await client.write('DELETE', reviewPath(ref, review), undefined, true);
      continue;
    }
    for (const id of wanted) {
      await client.write('DELETE', deletionPath(ref, review, id, differences), undefined, true);
    }
    if (differences.inlineCommentDeletion === 'as-any-comment') {
      await strikeOut(client, ref, review, leaving, note);
    }
  }
}

function deletionPath(ref: PullRequestRef, review: string, id: string, differences: Differences): string {
  return differences.inlineCommentDeletion === 'by-review'
    ? `${reviewPath(ref, review)}${path('comments', id)}`
    : `${issuesPath(ref)}${path('comments', id)}`;
}

/** Where deleting did nothing, the comments of a review get another text; they go with the last of their review. */
async function strikeOut(
  client: GiteaClient,
  ref: PullRequestRef,
  review: string,
  leaving: ReadonlySet<string>,
  note: string,
) {
  const left = await client.ask(`${reviewPath(ref, review)}/comments`, shapes.inlineComments, {
    maxStringBytes: OWN_COMMENT,
  });
  for (const { id } of left ?? []) {
    if (leaving.has(id)) {
      const body = { body: `${note}\n\n${WITHDRAWN}` };
      await client.write('PATCH', `${issuesPath(ref)}${path('comments', id)}`, body, true);
    }
  }
}

function isPosted(comment: Own): boolean {
  return !comment.body.endsWith(WITHDRAWN);
}

/** Comments at lines belong to reviews, and there is no list of them all. */
async function commentsOf(
  client: GiteaClient,
  ref: PullRequestRef,
  self: string,
  reviews: readonly Review[],
): Promise<readonly Own[]> {
  const own: Own[] = [];
  for (const { id: review, state, comments_count, commit_id: sha } of reviews) {
    if (state === PENDING || comments_count === 0) {
      continue;
    }
    // This list has no pages.
    const comments = await client.ask(`${reviewPath(ref, review)}/comments`, shapes.inlineComments, {
      maxStringBytes: OWN_COMMENT,
    });
    const answered = comments?.some(({ user }) => user !== self) ?? false;
    for (const { id, body, path, position, user } of comments ?? []) {
      if (user === self) {
        own.push({ id, body, path, line: position || null, review, sha, answered });
      }
    }
  }
  return own;
}

async function ownReviews(client: GiteaClient, ref: PullRequestRef, self: string): Promise<readonly Review[]> {
  const route = `${pullPath(ref)}/reviews`;
  const reviews = requireFound(await client.askAll(route, shapes.reviews, { maxStringBytes: SHORT }), route);
  return reviews.filter((review) => review.user === self);
}

function reviewPath(ref: PullRequestRef, review: string): string {
  return `${pullPath(ref)}${path('reviews', review)}`;
}

function issuesPath(ref: PullRequestRef): string {
  return pullPath(ref).replace(/\/pulls\/\d+$/, '/issues');
}
