import { acceptedWrite, parseAnswer, requireFound } from '../answer.ts';
import type { InlineComment, PostedInlineComment, PullRequestRef } from '../forge.ts';
import { type GiteaClient, path } from './client.ts';
import type { Differences } from './differences.ts';
import { pullPath } from './read.ts';
import * as shapes from './shapes.ts';

/** Marks a comment that could not be deleted yet, so that it no longer counts as posted. */
const WITHDRAWN = '<!-- gatehouse: withdrawn -->';

interface Own extends PostedInlineComment {
  readonly review: string;
  /** Somebody else commented within the same review; it is not ours alone to delete. */
  readonly answered: boolean;
}

export async function ownInlineComments(
  client: GiteaClient,
  ref: PullRequestRef,
  self: string,
): Promise<readonly PostedInlineComment[]> {
  const own = await allOwn(client, ref, self);
  return own.filter(isPosted).map(({ id, body, path, line }) => ({ id, body, path, line }));
}

export async function createInlineComments(
  client: GiteaClient,
  ref: PullRequestRef,
  self: string,
  sha: string,
  comments: readonly InlineComment[],
) {
  // An interrupted creation leaves a pending review behind, invisible to others, and the forge would submit its
  // comments along with ours.
  for (const review of await ownReviews(client, ref, self)) {
    if (review.state === 'PENDING') {
      await client.write('DELETE', reviewPath(ref, review.id), undefined, true);
    }
  }
  const route = `${pullPath(ref)}/reviews`;
  const answer = await client.write('POST', route, {
    commit_id: sha,
    event: 'COMMENT',
    body: '',
    comments: comments.map(({ path, line, body }) => ({ path, new_position: line, old_position: 0, body })),
  });
  parseAnswer(acceptedWrite, answer, `POST ${route}`);
}

export async function withdrawInlineComments(
  client: GiteaClient,
  ref: PullRequestRef,
  self: string,
  ids: readonly string[],
  note: string,
  differences: Differences,
) {
  if (ids.length === 0) {
    return;
  }
  const leaving = new Set(ids);
  const byReview = Map.groupBy(await allOwn(client, ref, self), (comment) => comment.review);
  for (const [review, comments] of byReview) {
    const wanted = comments.filter((comment) => leaving.has(comment.id));
    const staying = comments.filter((comment) => !leaving.has(comment.id) && isPosted(comment));
    if (wanted.length > 0 && staying.length === 0 && !wanted.some((comment) => comment.answered)) {
      await client.write('DELETE', reviewPath(ref, review), undefined, true);
      continue;
    }
    for (const { id } of wanted) {
      await client.write('DELETE', deletionPath(ref, review, id, differences), undefined, true);
    }
    if (wanted.length > 0 && differences.inlineCommentDeletion === 'as-any-comment') {
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
  const left = await client.ask(`${reviewPath(ref, review)}/comments`, shapes.inlineComments);
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
async function allOwn(client: GiteaClient, ref: PullRequestRef, self: string): Promise<readonly Own[]> {
  const own: Own[] = [];
  for (const review of await ownReviews(client, ref, self)) {
    if (review.state === 'PENDING' || review.comments_count === 0) {
      continue;
    }
    // This list has no pages.
    const comments = await client.ask(`${reviewPath(ref, review.id)}/comments`, shapes.inlineComments);
    const answered = comments?.some(({ user }) => user !== self) ?? false;
    for (const { id, body, path, position, user } of comments ?? []) {
      if (user === self) {
        own.push({ id, body, path, line: position || null, review: review.id, answered });
      }
    }
  }
  return own;
}

async function ownReviews(client: GiteaClient, ref: PullRequestRef, self: string) {
  const route = `${pullPath(ref)}/reviews`;
  const reviews = requireFound(await client.askAll(route, shapes.reviews), route);
  return reviews.filter((review) => review.user === self);
}

function reviewPath(ref: PullRequestRef, review: string): string {
  return `${pullPath(ref)}${path('reviews', review)}`;
}

function issuesPath(ref: PullRequestRef): string {
  return pullPath(ref).replace(/\/pulls\/\d+$/, '/issues');
}
