import * as z from 'zod';
import type { PersonReview } from '../forges/port/pull-request.ts';
import { yesNo } from '../forges/port/yes-no.ts';
import { type AtForge, defineFact, type GivenOf, NO_PERMISSIONS, type Webhook } from './fact.ts';
import { flag, minute, oneOf, SHAS, text } from './given.ts';

export interface ReviewList {
  /** Oldest first. */
  readonly reviews: readonly PersonReview[];
  readonly complete: boolean;
}

const UNREAD: ReviewList = { reviews: [], complete: false };

const review = z.strictObject(
  {
    author: text.describe('A login.'),
    state: oneOf('approved', 'changes-requested', 'commented', 'dismissed').optional().describe('Default: approved.'),
    at: oneOf('head', 'old', 'updated')
      .optional()
      .describe(
        'Of which commit: the head, an earlier one (old), or one after which only the base was merged (updated).',
      ),
    outdated: flag.optional().describe('Whether the base was changed, or the head force-pushed, after it.'),
    official: flag
      .nullable()
      .optional()
      .describe('Whether the author can write to the repository; null where the forge does not say. Default: true.'),
    bot: flag.optional().describe('Whether the author is a bot.'),
  },
  { error: 'a review, such as { author: sally }' },
);

export const givenReviews = {
  reviews: z.array(review, { error: 'a list of reviews' }).optional().describe('Oldest first. Default: none.'),
};

/**
 * Not that of a review that only comments: few policies look at one, and every review that Gatehouse posts comes back
 * as one. By what it says, and not by its author or text, so that an approval cannot be hidden behind it.
 */
function decides({ review: given }: Readonly<Record<string, unknown>>): boolean {
  return !(typeof given === 'object' && given !== null && 'state' in given && given.state === 'commented');
}

function onGitea(event: string): Webhook {
  return { event, actions: 'any action', starts: 'review' };
}

const GITEA: AtForge = {
  permissions: NO_PERMISSIONS,
  webhooks: [
    'pull_request_approved',
    'pull_request_rejected',
    'pull_request_review_approved',
    'pull_request_review_rejected',
  ].map(onGitea),
};

/** What people said in reviews. */
export const reviews = defineFact({
  name: 'reviews',
  unread: UNREAD,
  unreadAs: 'reviews',
  unreadAfter: ['too-large'],
  dependsOn: [],
  read: async ({ forge, pullRequest, preloaded }) => ({
    reviews: preloaded.reviews ?? (await forge.reviews(pullRequest)),
    complete: true,
  }),
  change: 'updated-at',
  forges: {
    github: {
      permissions: NO_PERMISSIONS,
      webhooks: [
        {
          event: 'pull_request_review',
          actions: ['submitted', 'edited', 'dismissed'],
          starts: 'review',
          when: decides,
        },
      ],
    },
    gitea: GITEA,
    forgejo: GITEA,
  },
  given: {
    shape: {
      ...givenReviews,
      reviews_complete: flag.optional().describe('false: there are more reviews, which could not be read.'),
    },
    of: (from) => ({ reviews: reviewsGiven(from), complete: from.reviews_complete ?? true }),
  },
});

export function reviewsGiven({ reviews: given = [] }: GivenOf<typeof givenReviews>): readonly PersonReview[] {
  return given.map(({ author, state, at, official, bot }, index) => ({
    author,
    state: state ?? 'approved',
    sha: SHAS[at ?? 'head'],
    submittedAt: minute(index),
    mayWrite: official === undefined ? 'yes' : yesNo(official),
    counted: 'unknown',
    bot: bot ?? false,
  }));
}

/** Those first whose authors are likely to write: anybody may review a public pull request, and must not crowd them out. */
export function likelyWritersFirst(reviews: readonly PersonReview[]): readonly PersonReview[] {
  const isLikely = ({ mayWrite, counted }: PersonReview) => Number(mayWrite === 'yes' || counted === 'yes');
  return reviews.toSorted((one, other) => isLikely(other) - isLikely(one));
}
