import { NOT_FOUND, withPull, withRepository } from './gitea-read-routes.ts';
import * as shapes from './gitea-shapes.ts';
import { type Answer, type Call, listIn, type Routes, textIn } from './routes.ts';
import { type InlineComment, newId, type Pull, type Repository, type Review, type World } from './world.ts';

const STATES = ['pending', 'success', 'error', 'failure', 'warning'];
const EVENTS: Readonly<Record<string, Review['state']>> = {
  APPROVED: 'approved',
  REQUEST_CHANGES: 'changes-requested',
  COMMENT: 'commented',
};
const FORBIDDEN: Answer = { status: 403, text: '' };
const DONE: Answer = { status: 204, text: '' };

export function giteaWriteRoutes(world: World, name: 'gitea' | 'forgejo', keepsInlineComments: boolean): Routes {
  const repos = '/repos/:owner/:repo';
  const review = `${repos}/pulls/:number/reviews/:review`;
  const shared: Routes = {
    [`POST ${repos}/statuses/:sha`]: withRepository(world, (repository, call) => {
      const sha = call.parameters['sha'] ?? '';
      if (!world.objects.has(sha)) {
        return NOT_FOUND;
      }
      if (!STATES.includes(textIn(call.body, 'state'))) {
        return invalid('invalid state');
      }
      const status = {
        id: newId(world),
        sha,
        context: textIn(call.body, 'context') || 'default',
        state: textIn(call.body, 'state'),
        description: textIn(call.body, 'description'),
        targetUrl: textIn(call.body, 'target_url'),
        author: call.login,
        at: new Date().toISOString(),
      };
      repository.statuses.push(status);
      return { status: 201, body: shapes.status(status) };
    }),

    [`POST ${repos}/issues/:number/comments`]: withPull(world, (pull, call) => {
      const body = textIn(call.body, 'body');
      if (body === '') {
        return invalid('[Body]: Required');
      }
      const comment = { id: newId(world), author: call.login, body, at: new Date().toISOString() };
      pull.comments.push(comment);
      return { status: 201, body: shapes.comment(comment) };
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
      comment.body = textIn(call.body, 'body');
      return { status: 200, body: shapes.comment(comment) };
    }),

    // But not deleted, before Gitea 1.24.6: for a comment at a line this answers 204 and does nothing.
    [`DELETE ${repos}/issues/comments/:id`]: withRepository(world, (repository, call) => {
      if (findAny(repository, call) === undefined) {
        return NOT_FOUND;
      }
      const wanted = (comment: { id: number }) => comment.id === Number(call.parameters['id']);
      for (const pull of repository.pulls.values()) {
        removeWhere(pull.comments, wanted);
        removeWhere(pull.inlineComments, (comment) => wanted(comment) && !keepsInlineComments);
      }
      return DONE;
    }),

    [`POST ${repos}/pulls/:number/reviews`]: withPull(world, (pull, call) => createReview(world, pull, call)),

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

/** Where a comment may be is not checked: any line of any file will do. */
function createReview(world: World, pull: Pull, call: Call): Answer {
  const event = textIn(call.body, 'event');
  const comments = listIn(call.body, 'comments');
  const state = EVENTS[event] ?? 'pending';
  if (pull.state === 'closed') {
    return invalid("can't submit a review for a closed or merged PR");
  }
  if ((state === 'approved' || state === 'changes-requested') && pull.author === call.login) {
    return invalid('approve your own pull is not allowed');
  }
  if (state === 'commented' && comments.length === 0 && textIn(call.body, 'body').trim() === '') {
    return invalid('review event COMMENT requires a body or a comment');
  }
  // A pending review of the same person is the one that is submitted, with whatever it held.
  const pending = pull.reviews.find((review) => review.state === 'pending' && review.author === call.login);
  const at = new Date().toISOString();
  const sha = textIn(call.body, 'commit_id') || pull.headSha;
  const body = textIn(call.body, 'body');
  const made: Review = { id: newId(world), author: call.login, state, dismissed: false, sha, body, at, official: true };
  const review = pending ?? made;
  review.state = state;
  if (pending === undefined) {
    pull.reviews.push(review);
  }
  for (const comment of comments) {
    pull.inlineComments.push({
      id: newId(world),
      author: call.login,
      body: textIn(comment, 'body'),
      at,
      review: review.id,
      path: textIn(comment, 'path'),
      line: Number(comment['new_position']),
      text: '',
      sha,
    });
  }
  return { status: 200, body: shapes.review(review, pull) };
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
