import {
  type Comment,
  countComments,
  countReview,
  DECIDING,
  type InlineComment,
  isSameLogin,
  lineInDiff,
  makeReview,
  mayPush,
  newId,
  type Review,
  touch,
} from '../world.ts';
import type { Stage } from './stage.ts';

interface InlineAt {
  readonly path: string;
  readonly line: number;
  readonly body: string;
  readonly replyTo?: InlineComment;
  /** Of the review that it is a part of: commented unless told. */
  readonly state?: Review['state'];
}

export function makeReviews(stage: Stage) {
  const { world, forge, now, pull, record, change } = stage;

  /** Of the present head. */
  function review(repository: string, number: number, author: string, state: Review['state'], body = ''): Review {
    const on = pull(repository, number);
    const made = makeReview(world, { author, state, sha: on.headSha, body });
    on.reviews.push(made);
    if (forge !== 'github') {
      countReview(world, on, made);
    }
    on.requested = on.requested.filter((asked) => asked !== author && !world.teams.get(asked)?.includes(author));
    touch(on);
    return made;
  }

  return {
    review,
    dismiss(repository: string, number: number, review: number, message = '') {
      const on = pull(repository, number);
      if (forge === 'gitea' && on.merged) {
        throw new Error("can't dismiss a review associated to a closed or merged PR");
      }
      const found = on.reviews.find((candidate) => candidate.id === review);
      if (found !== undefined) {
        found.dismissed = true;
        record(on, 'dismissed', { message });
      }
      touch(on);
    },
    /** Requests a review of a person, or of a team (`organisation/team`). It ends with the next one of that person, or of a member. */
    requestReview(repository: string, number: number, reviewer: string, by?: string) {
      const on = pull(repository, number);
      record(on, 'review-requested', { request: { reviewer, by: by ?? on.author } });
      change(repository, number, { requested: [...on.requested, reviewer] });
      for (const review of on.reviews.filter(
        ({ author }) => isSameLogin(author, reviewer) && mayPush(world, repository, author),
      )) {
        review.official = false;
      }
    },
    withdrawReviewRequest(repository: string, number: number, reviewer: string, by?: string) {
      const on = pull(repository, number);
      record(on, 'review-request-withdrawn', { request: { reviewer, by: by ?? on.author } });
      change(repository, number, { requested: on.requested.filter((candidate) => candidate !== reviewer) });
      const newest = on.reviews.findLast(({ author, state }) => author === reviewer && DECIDING.includes(state));
      if (newest !== undefined && mayPush(world, repository, reviewer)) {
        newest.official = true;
      }
    },
    comment(
      repository: string,
      number: number,
      author: string,
      body: string,
      details: Pick<Comment, 'byEmail' | 'importedFrom'> = {},
    ): Comment {
      const made = { id: newId(world), author, body, at: now(), ...details };
      const on = pull(repository, number);
      on.comments.push(made);
      countComments(on);
      touch(on);
      return made;
    },
    editComment(repository: string, number: number, comment: number, body: string) {
      const edited = pull(repository, number).comments.find(({ id }) => id === comment);
      Object.assign(edited ?? {}, { body, editedAt: now() });
    },
    deleteComment(repository: string, number: number, comment: number) {
      const on = pull(repository, number);
      on.comments.splice(
        on.comments.findIndex(({ id }) => id === comment),
        1,
      );
      countComments(on);
    },
    commentInline(repository: string, number: number, author: string, at: InlineAt): InlineComment {
      const on = pull(repository, number);
      const { path, line, body, replyTo, state = 'commented' } = at;
      countComments(on);
      // An answer is a review of its own on GitHub, and belongs to the review that it answers elsewhere.
      const of = (forge !== 'github' && replyTo?.review) || review(repository, number, author, state).id;
      const text = lineInDiff(world, on, path, line) ?? '';
      const made = { id: newId(world), author, at: now(), review: of, text, sha: on.headSha, path, line, body };
      const comment: InlineComment = { ...made, ...(replyTo && { replyTo: replyTo.replyTo ?? replyTo.id }) };
      on.inlineComments.push(comment);
      return comment;
    },
    /** Resolves the conversation that a comment begins; with `by` undefined, takes that back. Nothing else shows it. */
    resolve(repository: string, number: number, comment: number, by: string | undefined): InlineComment {
      const found = pull(repository, number).inlineComments.find(({ id }) => id === comment);
      if (found === undefined) {
        throw new Error(`there is no comment ${comment} at a line`);
      }
      return Object.assign(found, { resolvedBy: by });
    },
  };
}
