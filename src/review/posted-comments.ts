import { hash } from 'node:crypto';
import type { Forge } from '../forges/port/forge.ts';
import { ForgeError } from '../forges/port/forge-error.ts';
import { FORGES, type ForgeName } from '../forges/port/forges.ts';
import type { OwnInlineComments, PostedComment } from '../forges/port/postings.ts';
import type { PreloadedFacts, PullRequestRead, PullRequestRef } from '../forges/port/pull-request.ts';
import { REVIEW_MARKER } from './rendering/comment.ts';
import { fingerprintIn, type RenderedInline } from './rendering/inline.ts';

/** The comments of Gatehouse on a pull request. */
export interface OwnPosted {
  readonly comments: readonly PostedComment[];
  readonly inlines: OwnInlineComments;
}

export const NOTHING_POSTED: OwnPosted = { comments: [], inlines: { comments: [], reviews: [] } };

/**
 * Our comments in the conversation; of the review that of `id` alone, where there is one and the forge lists all
 * comments at once: what others write there can make the list too large to be read.
 */
export async function readOwnComments(
  forge: Forge,
  ref: PullRequestRef,
  id: string | undefined,
): Promise<readonly PostedComment[]> {
  const own = id === undefined ? undefined : await forge.ownComment?.(ref, id);
  return own === undefined ? forge.ownComments(ref) : [own];
}

/**
 * The facts that came with a pull request, and our comments: those that came with it, or else read now. Comments that
 * cannot be read stay unknown, and the report says so.
 */
export async function withOwnComments(
  forge: Forge,
  { pullRequest, preloaded }: Pick<PullRequestRead, 'pullRequest' | 'preloaded'>,
  hasNone: boolean,
  commentId: string | undefined,
): Promise<PreloadedFacts> {
  if (hasNone) {
    return { ...preloaded, ownComments: NOTHING_POSTED.comments, ownInlineComments: NOTHING_POSTED.inlines };
  }
  try {
    const ownComments = preloaded.ownComments ?? (await readOwnComments(forge, pullRequest, commentId));
    const ownInlineComments =
      preloaded.ownInlineComments ?? (await forge.ownInlineComments(pullRequest, pullRequest.head.sha));
    return { ...preloaded, ownComments, ownInlineComments };
  } catch (error) {
    if (error instanceof ForgeError && error.kind !== 'rate-limited') {
      return preloaded;
    }
    throw error;
  }
}

/** A digest of what stands there, equal to {@link wantedDigest} when nothing has to be written. */
function postedDigest(forge: ForgeName, { comments, inlines }: OwnPosted): string {
  return digest(
    comments.flatMap(({ body }) => (body.startsWith(REVIEW_MARKER) ? [body] : [])),
    inlines.comments.flatMap(({ body, line }) => {
      const fingerprint = fingerprintIn(body);
      return fingerprint === undefined ? [] : [placeOf(forge, fingerprint, line)];
    }),
  );
}

/** Whether our comments are still those with this digest. */
export function hasComments(
  forge: ForgeName,
  digest: string,
  { ownComments, ownInlineComments }: PreloadedFacts,
): boolean {
  const posted = ownComments && ownInlineComments && { comments: ownComments, inlines: ownInlineComments };
  return posted !== undefined && postedDigest(forge, posted) === digest;
}

/** The fingerprint of what should be posted: the comment, if there should be one, and the comments at lines. */
export function wantedDigest(
  forge: ForgeName,
  comment: string | undefined,
  inlines: readonly Pick<RenderedInline, 'fingerprint' | 'line'>[],
): string {
  const places = new Map(inlines.map(({ fingerprint, line }) => [fingerprint, placeOf(forge, fingerprint, line)]));
  return digest(comment === undefined ? [] : [comment], [...places.values()]);
}

/** Where comments follow their line, it does not matter which one that is. */
function placeOf(forge: ForgeName, fingerprint: string, line: number | null): string {
  return `${fingerprint} ${line !== null && FORGES[forge].movesInlineComments ? 'shown' : line}`;
}

function digest(comments: readonly string[], places: readonly string[]): string {
  return hash('sha256', JSON.stringify([comments.map((body) => body.trim()).sort(), places.toSorted()]));
}
