/** What a review posts, and reads back: statuses, and comments in the conversation and at lines. */

import { shorten } from '../../common/shorten.ts';

/** GitHub's limit for a status's description, in characters. */
const MAX_STATUS_DESCRIPTION_LENGTH = 140;

/**
 * What a status cannot hold: GitHub refuses characters beyond U+FFFF, databases some of the others, and what nobody sees
 * can make a text look like another one.
 */
export const NOT_IN_STATUSES = /[\p{Cc}\p{Cf}\p{Cs}\u{10000}-\u{10ffff}]/gu;

declare const made: unique symbol;
/** What every forge takes for the description of a status. Only {@link statusDescription} makes one. */
export type StatusDescription = string & { readonly [made]: true };

/** One line of any text, shortened to what fits before `end`. */
export function statusDescription(text: string, end = ''): StatusDescription {
  const line = (part: string) =>
    part
      .replaceAll(/\s+/g, ' ')
      .replaceAll(NOT_IN_STATUSES, '\ufffd')
      .replaceAll(/\ufffd+/g, '\ufffd');
  const ending = line(end);
  return `${shorten(line(text).trim(), MAX_STATUS_DESCRIPTION_LENGTH - ending.length)}${ending}` as StatusDescription;
}

/** The longest comment that every forge takes, in characters (GitHub's limit; Gitea and Forgejo set none). */
export const MAX_COMMENT_LENGTH = 65_536;

/** The commit status as forges know it. GitHub has no `warning`, so none is used. */
export type StatusState = 'pending' | 'success' | 'failure' | 'error';

export interface CommitStatus {
  /** The name shown beside the status: `gatehouse`. */
  readonly context: string;
  readonly state: StatusState;
  readonly description: StatusDescription;
  readonly targetUrl?: string;
  /** When the forge recorded it; absent on one yet to be posted. */
  readonly updatedAt?: string;
}

/** A status that a commit has. */
export interface PostedStatus extends Omit<CommitStatus, 'description'> {
  /** Anything, where others have set it. */
  readonly description: string;
  /** Whether `Forge.self` set it: whoever may push can set one of any name and words. */
  readonly own: boolean;
  /** Login of who set it. */
  readonly creator: string;
}

/** For a forge that takes only so many statuses of one name for a commit, and refuses every later one. */
export interface StatusLimit {
  readonly most: number;
  /** How many there are, by anybody; `most` where they are too many to be counted. */
  count(repository: string, sha: string, context: string): Promise<number>;
}

/** A comment at a line of the new side of the change. */
export interface InlineComment {
  readonly path: string;
  /** Line number in the file as the head has it, from 1. */
  readonly line: number;
  readonly body: string;
}

/** A comment that Gatehouse itself has posted. `id` is the forge's, kept as text. */
export interface PostedComment {
  readonly id: string;
  readonly body: string;
}

export interface PostedInlineComment extends PostedComment {
  readonly path: string;
  /**
   * Null when the comment is no longer shown at a line: GitHub says so; on Gitea and Forgejo it is so when the commit
   * it was posted at was replaced by a force-push. Otherwise, there, it is the line it was posted at.
   */
  readonly line: number | null;
}

/** A review that Gatehouse itself has begun or posted. */
export interface OwnReview {
  readonly id: string;
  /** Never submitted: left behind by a request that broke off, and seen by nobody else. */
  readonly pending: boolean;
  /** Those comments of it that {@link OwnInlineComments} lists. */
  readonly commentIds: readonly string[];
  /** Somebody else commented within it: it is not ours alone to delete. */
  readonly answered: boolean;
}

export interface OwnInlineComments {
  readonly comments: readonly PostedInlineComment[];
  /** Empty on GitHub, where comments at lines are listed without their reviews. */
  readonly reviews: readonly OwnReview[];
}
