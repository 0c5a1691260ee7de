import { FORGES, type ForgeName } from '../../forges/port/forges.ts';
import type { PersonReview } from '../../forges/port/pull-request.ts';
import { currentReviews } from '../predicates/current-approvals.ts';

/** What reviews may have been when a pull request was merged. */
export interface PossibleReviews {
  /** Logins of those whose review then is not known. */
  readonly unknown: readonly string[];
  /** Every possibility; none when there are more than are tried. */
  readonly ways: readonly (readonly PersonReview[])[];
}

/** Two people whose review is not known. */
const MAX_WAYS = 9;

/**
 * The forge does not say when a review was dismissed: it may have counted, for or against. Where it says who may write
 * to the repository now, not who could then, that may have been different too.
 */
export function possibleReviews(reviews: readonly PersonReview[], author: string, forge: ForgeName): PossibleReviews {
  const doubtful = currentReviews(reviews, author)
    .map((review) => ({ review, alternatives: alternativesOf(review, forge) }))
    .filter(({ alternatives }) => alternatives.length > 0);
  let ways: readonly (readonly PersonReview[])[] = [reviews];
  for (const { review, alternatives } of doubtful) {
    if (ways.length * (alternatives.length + 1) > MAX_WAYS) {
      ways = [];
      break;
    }
    ways = ways.flatMap((way) => [
      way,
      ...alternatives.map((other) => way.map((each) => (each === review ? other : each))),
    ]);
  }
  return { unknown: doubtful.map(({ review }) => review.author), ways };
}

/** What a review may have been instead. */
function alternativesOf(review: PersonReview, forge: ForgeName): readonly PersonReview[] {
  switch (review.state) {
    case 'dismissed':
      return [
        { ...review, state: 'approved', official: true },
        { ...review, state: 'changes-requested', official: true },
      ];
    case 'approved':
    case 'changes-requested':
      return FORGES[forge].officialAsOf === 'now' && !review.official && !review.bot
        ? [{ ...review, official: true }]
        : [];
    case 'commented':
      return [];
  }
}
