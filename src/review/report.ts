import type { Forge } from '../forges/port/forge.ts';
import { ForgeError } from '../forges/port/forge-error.ts';
import { FORGES } from '../forges/port/forges.ts';
import { type OwnInlineComments, type PostedComment, statusDescription } from '../forges/port/postings.ts';
import type { PreloadedFacts, PullRequestNow } from '../forges/port/pull-request.ts';
import type { Comments } from './policy/comments.ts';
import { REVIEW_MARKER, renderReview } from './rendering/comment.ts';
import { fingerprintIn, renderInlines } from './rendering/inline.ts';
import type { Links } from './rendering/links.ts';
import type { Verdict } from './verdict.ts';

/** What a comment becomes on a forge that cannot delete it alone. */
const RESOLVED_NOTE = '~~Resolved.~~ This no longer applies.';

/** What the forge would not take, as of a locked conversation. Asking again would not help. */
export interface Refusal {
  readonly what: 'comment' | 'comments at lines';
  readonly error: ForgeError;
}

export interface ReportOptions {
  readonly comments: Comments;
  readonly links: Links;
  readonly left: LeftComment;
  /** Whether it was tried before: then there may be some that the forge does not count yet. */
  readonly isRetry: boolean;
  /** False: the status is `success` whatever the verdict, and the comment says so. */
  readonly enforce: boolean;
  /** The commit takes no more statuses: the verdict is only shown here. */
  readonly isUsedUp: boolean;
  /** Our comments, as far as they were read with the pull request. */
  readonly preloaded: PreloadedFacts;
}

/** Our comment in the conversation, as the last review left it. Without an id, it is not known whether there is one. */
export type LeftComment = 'none' | { readonly id: string | undefined };

export interface Reported {
  readonly refusals: readonly Refusal[];
  readonly commentId?: string;
  /** Why comments are missing which the next attempt may write. The status does not wait for them. */
  readonly failure?: ForgeError;
}

/**
 * Brings the comments in line with the verdict, without duplicates. It compares what is there with what should be, and
 * writes the difference: a report that was cut short anywhere is completed by the next one, and an unchanged verdict
 * writes nothing. Returns what the forge refused for good, what may be different at the next attempt, and the comment's
 * id if there is one.
 *
 * The status comes after it, so that a new status appears with an old comment only where that could not be written.
 */
export async function reportComments(
  forge: Forge,
  pullRequest: PullRequestNow,
  verdict: Verdict,
  options: ReportOptions,
): Promise<Reported> {
  return orFailure(options.left, () => writeComments(forge, pullRequest, verdict, options));
}

/** Where that fails, what was left may still be there. */
async function orFailure(left: LeftComment, write: () => Promise<Reported>): Promise<Reported> {
  try {
    return await write();
  } catch (failure) {
    if (!(failure instanceof ForgeError)) {
      throw failure;
    }
    return { refusals: [], failure, ...withId(idIn(left)) };
  }
}

const idIn = (left: LeftComment) => (left === 'none' ? undefined : left.id);

const withId = (commentId: string | undefined) => (commentId === undefined ? {} : { commentId });

async function writeComments(
  forge: Forge,
  pullRequest: PullRequestNow,
  verdict: Verdict,
  { comments, links, left, isRetry, enforce, isUsedUp, preloaded }: ReportOptions,
): Promise<Reported> {
  if (comments === 'off') {
    return left === 'none' ? { refusals: [] } : withdrawComments(forge, pullRequest, left);
  }
  const counted = isRetry ? { ...pullRequest, commentCount: undefined } : pullRequest;
  const wanted = comments === 'all' ? renderInlines(verdict) : [];
  const refusedInlines = await refusalOf('comments at lines', async () => {
    const own = preloaded.ownInlineComments ?? (await readOwnInlines(forge, counted, left));
    await reportInlines(forge, pullRequest, wanted, own);
  });
  const body = renderReview(verdict, { links, enforce, isUsedUp });
  let commentId = idIn(left);
  const refusedComment = await refusalOf('comment', async () => {
    const own = preloaded.ownComments ?? (await readOwnComments(forge, counted, left));
    commentId = await reportComment(forge, pullRequest, isUsedUp || hasSomethingToSay(verdict), body, own);
  });
  return { refusals: [...refusedComment, ...refusedInlines], ...withId(commentId) };
}

/** Our comments in the conversation. */
async function readOwnComments(
  forge: Forge,
  pullRequest: PullRequestNow,
  left: LeftComment,
): Promise<readonly PostedComment[]> {
  if (pullRequest.commentCount === 0) {
    return [];
  }
  return orIfTooLarge(
    () => forge.ownComments(pullRequest),
    async () => {
      if (left === 'none') {
        return [];
      }
      const own = left.id === undefined ? undefined : await forge.ownComment?.(pullRequest, left.id);
      return own && [own];
    },
  );
}

async function readOwnInlines(
  forge: Forge,
  pullRequest: PullRequestNow,
  left: LeftComment,
): Promise<OwnInlineComments> {
  const none = { comments: [], reviews: [] };
  if (pullRequest.commentCount === 0) {
    return none;
  }
  return orIfTooLarge(
    () => forge.ownInlineComments(pullRequest, pullRequest.head.sha),
    async () => (left === 'none' ? none : undefined),
  );
}

/** Strangers must not keep our comments away by writing more than can be read. */
async function orIfTooLarge<Own>(read: () => Promise<Own>, otherwise: () => Promise<Own | undefined>): Promise<Own> {
  try {
    return await read();
  } catch (error) {
    const own = error instanceof ForgeError && error.kind === 'too-large' ? await otherwise() : undefined;
    if (own === undefined) {
      throw error;
    }
    return own;
  }
}

const REFUSALS: readonly ForgeError['kind'][] = ['refused', 'invalid', 'too-large'];

async function refusalOf(what: Refusal['what'], write: () => Promise<void>): Promise<readonly Refusal[]> {
  try {
    await write();
    return [];
  } catch (error) {
    // 404: the comment was deleted meanwhile. The next attempt sees that.
    if (error instanceof ForgeError && REFUSALS.includes(error.kind) && error.status !== 404) {
      return [{ what, error }];
    }
    throw error;
  }
}

/** The description of a status beside which comments are missing. */
export function withRefusals(description: string, refusals: readonly Refusal[]): string {
  if (refusals.length === 0) {
    return description;
  }
  return statusDescription(description, ` (the forge refused: ${refusals.map(({ what }) => what).join(', ')})`);
}

/** Removes all comments of Gatehouse, as after the policy was deleted. */
export function withdrawComments(forge: Forge, pullRequest: PullRequestNow, left: LeftComment): Promise<Reported> {
  return orFailure(left, async () => {
    const ofComment = await refusalOf('comment', async () => {
      for (const { id, body } of await readOwnComments(forge, pullRequest, left)) {
        if (body.startsWith(REVIEW_MARKER)) {
          await forge.deleteComment(pullRequest, id);
        }
      }
    });
    const ofInlines = await refusalOf('comments at lines', async () => {
      const { comments, reviews } = await readOwnInlines(forge, pullRequest, left);
      const ids = comments.flatMap(({ id, body }) => (fingerprintIn(body) === undefined ? [] : [id]));
      if (ids.length > 0) {
        await forge.withdrawInlineComments(pullRequest, ids, RESOLVED_NOTE, reviews);
      }
    });
    return { refusals: [...ofComment, ...ofInlines], ...withId(ofComment.length > 0 ? idIn(left) : undefined) };
  });
}

/** Success alone creates no comment; it only updates an earlier one. Returns the comment's id. */
async function reportComment(
  forge: Forge,
  pullRequest: PullRequestNow,
  isWorthOne: boolean,
  body: string,
  own: readonly PostedComment[],
): Promise<string | undefined> {
  const [present, ...superfluous] = own.filter((comment) => comment.body.startsWith(REVIEW_MARKER));
  for (const { id } of superfluous) {
    await forge.deleteComment(pullRequest, id);
  }

  if (present !== undefined) {
    if (present.body.trim() !== body.trim()) {
      await forge.updateComment(pullRequest, present.id, body);
    }
    return present.id;
  }
  return isWorthOne ? (await forge.createComment(pullRequest, body)).id : undefined;
}

function hasSomethingToSay({ state, findings, policyFaults }: Verdict): boolean {
  return state !== 'success' || findings.length > 0 || policyFaults.length > 0;
}

async function reportInlines(
  forge: Forge,
  pullRequest: PullRequestNow,
  rendered: ReturnType<typeof renderInlines>,
  own: OwnInlineComments,
): Promise<void> {
  const wanted = new Map(rendered.map((comment) => [comment.fingerprint, comment]));
  const posted = new Set<string>();
  const outdated: string[] = [];
  const { movesInlineComments } = FORGES[forge.name];
  for (const { id, body, line } of own.comments) {
    const fingerprint = fingerprintIn(body);
    if (fingerprint === undefined) {
      continue;
    }
    // Where it is no longer shown at its line, it is posted again at the line's present number.
    const inPlace = line !== null && (movesInlineComments || line === wanted.get(fingerprint)?.line);
    if (inPlace && wanted.has(fingerprint) && !posted.has(fingerprint)) {
      posted.add(fingerprint);
    } else {
      outdated.push(id);
    }
  }
  const missing = [...wanted].filter(([fingerprint]) => !posted.has(fingerprint)).map(([, comment]) => comment);
  if (missing.length > 0) {
    const comments = missing.map(({ path, line, body }) => ({ path, line, body }));
    await forge.createInlineComments(pullRequest, pullRequest.head.sha, comments, own.reviews);
  }
  if (outdated.length > 0) {
    await forge.withdrawInlineComments(pullRequest, outdated, RESOLVED_NOTE, own.reviews);
  }
}
