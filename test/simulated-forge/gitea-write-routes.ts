import { NOT_FOUND, withPull, withRepository } from './gitea-read-routes.ts';
import * as shapes from './gitea-shapes.ts';
import { type Answer, addStatus, type Call, listIn, type Routes, textIn } from './routes.ts';
import type { WebhookEvent } from './webhooks.ts';
import {
  countComments,
  type InlineComment,
  makeReview,
  newId,
  type Pull,
  type Repository,
  type Review,
  touch,
  type World,
} from './world.ts';

const FORBIDDEN: Answer = { status: 403, text: '' };
/** Those who are no administrators are not told why. */
const FAILED: Answer = { status: 500, body: { message: '' } };
const DONE: Answer = { status: 204, text: '' };

export type Notify = (repository: Repository, event: WebhookEvent) => void;

export function giteaWriteRoutes(
  world: World,
  name: 'gitea' | 'forgejo',
  keepsInlineComments: boolean,
  notify: Notify,
): Routes {
  const repos = '/repos/:owner/:repo';
  const review = `${repos}/pulls/:number/reviews/:review`;
  const shared: Routes = {
    [`POST ${repos}/statuses/:sha`]: withRepository(world, (repository, call) => {
      const sha = call.parameters['sha'] ?? '';
      if (!world.objects.has(sha)) {
        return FAILED;
      }
      // Any word counts as a state.
      const status = addStatus(world, repository, call);
      if (name === 'gitea') {
        notify(repository, { kind: 'status', status });
      }
      return { status: 201, body: shapes.status(status) };
    }),

    [`POST ${repos}/issues/:number/comments`]: withPull(world, (pull, call) => {
      const body = textIn(call.body, 'body');
      if (body === '') {
        return invalid('[Body]: Required');
      }
      const comment = { id: newId(world), author: call.login, body, at: new Date().toISOString() };
      pull.comments.push(comment);
      countComments(pull);
      touch(pull);
      notify(pull.repository, { kind: 'comment', number: pull.number, comment, action: 'created' });
      return { status: 201, body: shapes.comment(comment) };
    }),

    [`GET ${repos}/issues/comments/:id`]: withRepository(world, (repository, call) => {
      const comment = findAny(repository, call);
      return comment === undefined ? NOT_FOUND : { status: 200, body: shapes.comment(comment) };
    }),

    // Comments at lines are comments too, and can be edited here.
    [`PATCH ${repos}/issues/comments/:id`]: withRepository(world, (repository, call) => {
      const comment = findAny(repository, call);
      if (comment === undefined) {
        return NOT_FOUND;
      }
      if (comment.author !== call.login) {
        return FORBIDDEN;
      }
      const before = comment.body;
      comment.body = textIn(call.body, 'body');
      comment.editedAt = new Date().toISOString();
      const on = [...repository.pulls.values()].find(({ comments }) => comments.some(({ id }) => id === comment.id));
      if (on !== undefined) {
        notify(repository, { kind: 'comment', number: on.number, comment, action: 'edited', before });
      }
      return { status: 200, body: shapes.comment(comment) };
    }),

    // But not deleted, before Gitea 1.24.6: for a comment at a line this answers 204 and does nothing.
    [`DELETE ${repos}/issues/comments/:id`]: withRepository(world, (repository, call) => {
      if (findAny(repository, call) === undefined) {
        return NOT_FOUND;
      }
      const wanted = (comment: { id: number }) => comment.id === Number(call.parameters['id']);
      for (const pull of repository.pulls.values()) {
        if (removeWhere(pull.comments, wanted) > 0) {
          countComments(pull);
        }
        removeWhere(pull.inlineComments, (comment) => wanted(comment) && !keepsInlineComments);
      }
      return DONE;
    }),

    [`POST ${repos}/pulls/:number/reviews`]: withPull(world, (pull, call) => createReview(world, pull, call, notify)),

    [`DELETE ${review}`]: withPull(world, (pull, call) => {
      const found = pull.reviews.find((candidate) => candidate.id === Number(call.parameters['review']));
      if (found === undefined || found.author !== call.login) {
        return found === undefined ? NOT_FOUND : FORBIDDEN;
      }
      pull.reviews.splice(pull.reviews.indexOf(found), 1);
      removeWhere(pull.inlineComments, (comment) => comment.review === found.id);
      return DONE;
    }),
  };
  const forgejoOnly: Routes = {
    [`DELETE ${review}/comments/:id`]: withPull(world, (pull, call) => {
      const wanted = (comment: InlineComment) =>
        comment.id === Number(call.parameters['id']) && comment.review === Number(call.parameters['review']);
      return removeWhere(pull.inlineComments, wanted) > 0 ? DONE : NOT_FOUND;
    }),
  };
  return name === 'forgejo' ? { ...shared, ...forgejoOnly } : shared;
}

function invalid(message: string): Answer {
  return { status: 422, body: { message } };
}

/** A line need not be part of the change, nor need there be such a file; but no file may have fewer lines. */
function createReview(world: World, pull: Pull, call: Call, notify: Notify): Answer {
  const comments = listIn(call.body, 'comments');
  // Gatehouse, which approves nothing, submits no other.
  if (textIn(call.body, 'event') !== 'COMMENT') {
    return invalid('event is not COMMENT');
  }
  if (comments.length === 0 && textIn(call.body, 'body').trim() === '') {
    return invalid('review event COMMENT requires a body or a comment');
  }
  const review = pendingReview(world, pull, call);
  const tree = world.objects.get(review.sha)?.tree;
  for (const comment of comments) {
    const line = Number(comment['new_position']);
    const path = textIn(comment, 'path');
    if (line > lineCount(tree?.get(path))) {
      return FAILED; // What came before it stays in a pending review.
    }
    countComments(pull);
    const { at, id, sha } = review;
    const made = { id: newId(world), author: call.login, body: textIn(comment, 'body'), at, review: id };
    pull.inlineComments.push({ ...made, path, line, text: '', sha });
  }
  review.state = 'commented';
  touch(pull);
  notify(pull.repository, { kind: 'review', number: pull.number, review });
  return { status: 200, body: shapes.review(review, pull) };
}

function pendingReview(world: World, pull: Pull, call: Call): Review {
  const known = pull.reviews.find((review) => review.state === 'pending' && review.author === call.login);
  const sha = textIn(call.body, 'commit_id') || pull.headSha;
  const made = makeReview(world, { author: call.login, state: 'pending', sha, body: textIn(call.body, 'body') });
  if (known === undefined) {
    pull.reviews.push(made);
  }
  return known ?? made;
}

function lineCount(content: Buffer | undefined): number {
  const text = content?.toString('utf8');
  return text === undefined ? Number.POSITIVE_INFINITY : text.replace(/\n$/, '').split('\n').length;
}

function findAny(repository: Repository, call: Call) {
  return [...repository.pulls.values()]
    .flatMap((pull) => [...pull.comments, ...pull.inlineComments])
    .find((comment) => comment.id === Number(call.parameters['id']));
}

function removeWhere<T>(list: T[], wanted: (item: T) => boolean): number {
  const staying = list.filter((item) => !wanted(item));
  return list.splice(0, list.length, ...staying).length - staying.length;
}
