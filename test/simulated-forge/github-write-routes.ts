import { NOT_FOUND, webOf, withPull, withRepository } from './github-read-routes.ts';
import * as shapes from './github-shapes.ts';
import { type Answer, addStatus, type Call, listIn, type Routes, textIn } from './routes.ts';
import {
  type Comment,
  lineInDiff,
  makeReview,
  newId,
  type Pull,
  type Repository,
  type Status,
  type World,
} from './world.ts';

const LONGEST_COMMENT = 65_536;
const LONGEST_DESCRIPTION = 140;
const MOST_STATUSES = 1_000;
const STATES = ['error', 'failure', 'pending', 'success'];

export function githubWriteRoutes(world: World): Routes {
  const repos = '/repos/:owner/:repo';
  return {
    [`POST ${repos}/statuses/:sha`]: withRepository(world, (repository, call) => {
      const sha = call.parameters['sha'] ?? '';
      const description = textIn(call.body, 'description');
      if (!world.objects.has(sha)) {
        return invalid(`No commit found for SHA: ${sha}`);
      }
      if (!STATES.includes(textIn(call.body, 'state'))) {
        return invalid('State is not included in the list');
      }
      if ([...description].length > LONGEST_DESCRIPTION) {
        return invalid(`Description is too long (maximum is ${LONGEST_DESCRIPTION} characters)`);
      }
      const context = textIn(call.body, 'context') || 'default';
      const tooWide = Object.entries({ description, context }).find(([, text]) => /[\u{10000}-\u{10ffff}]/u.test(text));
      if (tooWide !== undefined) {
        return invalid(`${tooWide[0]} doesn't accept 4-byte Unicode`);
      }
      // Contexts are compared without case.
      const isSame = (status: Status) => status.sha === sha && status.context.toLowerCase() === context.toLowerCase();
      if (repository.statuses.filter(isSame).length >= MOST_STATUSES) {
        return invalid('This SHA and context has reached the maximum number of statuses.');
      }
      const status = addStatus(world, repository, call);
      return { status: 201, body: { ...shapes.status(status), url: `${webOf(call)}/statuses/${sha}` } };
    }),

    [`POST ${repos}/issues/:number/comments`]: withPull(world, (pull, call) => {
      const body = textIn(call.body, 'body');
      const refusal = refuseComment(body);
      if (refusal !== undefined) {
        return refusal;
      }
      const comment = { id: newId(world), author: call.login, body, at: new Date().toISOString() };
      pull.comments.push(comment);
      return { status: 201, body: shapes.comment(comment) };
    }),

    [`PATCH ${repos}/issues/comments/:id`]: withRepository(world, (repository, call) => {
      const found = findComment(repository, call, (pull) => pull.comments);
      if (found === undefined) {
        return NOT_FOUND;
      }
      const body = textIn(call.body, 'body');
      const refusal = found.comment.author === call.login ? refuseComment(body) : FORBIDDEN;
      if (refusal !== undefined) {
        return refusal;
      }
      found.comment.body = body;
      found.comment.editedAt = new Date().toISOString();
      return { status: 200, body: shapes.comment(found.comment) };
    }),

    [`DELETE ${repos}/issues/comments/:id`]: withRepository(world, (repository, call) =>
      remove(findComment(repository, call, (pull) => pull.comments)),
    ),

    [`DELETE ${repos}/pulls/comments/:id`]: withRepository(world, (repository, call) =>
      remove(findComment(repository, call, (pull) => pull.inlineComments)),
    ),

    [`POST ${repos}/pulls/:number/reviews`]: withPull(world, (pull, call) => createReview(world, pull, call)),
  };
}

const FORBIDDEN: Answer = { status: 403, body: { message: 'Must have admin rights to Repository.' } };

function invalid(message: string): Answer {
  return {
    status: 422,
    body: { message: 'Validation Failed', errors: [{ resource: 'Gatehouse', code: 'custom', message }] },
  };
}

function unprocessable(message: string): Answer {
  return { status: 422, body: { message: 'Unprocessable Entity', errors: [message] } };
}

function refuseComment(body: string, refuse = invalid): Answer | undefined {
  if (body === '') {
    return refuse('Body cannot be blank');
  }
  return [...body].length > LONGEST_COMMENT
    ? refuse(`Body is too long (maximum is ${LONGEST_COMMENT} characters)`)
    : undefined;
}

function createReview(world: World, pull: Pull, call: Call): Answer {
  const sha = textIn(call.body, 'commit_id') || pull.headSha;
  const comments = listIn(call.body, 'comments').map((comment) => ({
    path: textIn(comment, 'path'),
    body: textIn(comment, 'body'),
    line: Number(comment['line']),
    text: lineInDiff(world, pull, textIn(comment, 'path'), Number(comment['line'])),
  }));
  if (sha !== pull.headSha) {
    return unprocessable('commit_id is not part of the pull request');
  }
  // All or nothing: one line outside of the diff refuses the whole review.
  if (comments.some((comment) => comment.text === undefined)) {
    return unprocessable('Pull request review thread line must be part of the diff');
  }
  const refusal = comments
    .map((comment) => refuseComment(comment.body, unprocessable))
    .find((answer) => answer !== undefined);
  if (refusal !== undefined) {
    return refusal;
  }
  // Gatehouse, which approves nothing, submits no other.
  if (textIn(call.body, 'event') !== 'COMMENT') {
    return unprocessable('event is not COMMENT');
  }
  if (comments.length === 0 && textIn(call.body, 'body') === '') {
    return unprocessable('Body cannot be blank');
  }
  const review = makeReview(world, { author: call.login, state: 'commented', sha, body: textIn(call.body, 'body') });
  pull.reviews.push(review);
  for (const { path, line, body, text = '' } of comments) {
    const comment = { id: newId(world), author: call.login, body, at: review.at, review: review.id };
    pull.inlineComments.push({ ...comment, path, line, text, sha });
  }
  return { status: 200, body: shapes.review(review) };
}

function findComment<T extends Comment>(repository: Repository, call: Call, listOf: (pull: Pull) => T[]) {
  for (const pull of repository.pulls.values()) {
    const list = listOf(pull);
    const comment = list.find((candidate) => candidate.id === Number(call.parameters['id']));
    if (comment !== undefined) {
      return { list, comment };
    }
  }
  return undefined;
}

function remove<T extends Comment>(found: { list: T[]; comment: T } | undefined): Answer {
  if (found === undefined) {
    return NOT_FOUND;
  }
  found.list.splice(found.list.indexOf(found.comment), 1);
  return { status: 204, text: '' };
}
