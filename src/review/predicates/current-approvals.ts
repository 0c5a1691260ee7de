import type { PersonReview } from '../../forges/port/pull-request.ts';

/** An approval in force: nothing its author said later takes it back. */
export type CurrentApproval = Omit<PersonReview, 'state'>;

/**
 * What each person says of the pull request now, in the order in which they said so, one each.
 *
 * The latest review of each person counts: approved, changes requested or dismissed; a comment does not
 * count. Logins are compared without regard to case. The author's own review is never one.
 */
export function currentReviews(reviews: readonly PersonReview[], pullRequestAuthor: string): readonly PersonReview[] {
  const latest = new Map<string, PersonReview>();
  for (const review of reviews) {
    const login = review.author.toLowerCase();
    if (review.state === 'commented' || login === pullRequestAuthor.toLowerCase()) {
      continue;
    }
    latest.delete(login);
    latest.set(login, review);
  }
  return [...latest.values()];
}

export function currentApprovals(
  reviews: readonly PersonReview[],
  pullRequestAuthor: string,
): readonly CurrentApproval[] {
  return currentReviews(reviews, pullRequestAuthor)
    .filter((review) => review.state === 'approved')
    .map(({ state: _, ...approval }) => approval);
}
