import type { PersonReview } from '../../forges/forge.ts';

/** An approval that stands: nothing its author said later takes it back. */
export interface Approval {
  readonly author: string;
  /** The head it was given for. */
  readonly sha: string;
}

/**
 * Who approves of the pull request now, in the order in which they said so, one each.
 *
 * Of each person the latest word counts: approved, changes requested or dismissed; a comment is no word on the
 * matter. Logins are compared without regard to case. The author's own approval is never one.
 */
export function currentApprovals(
  reviews: readonly PersonReview[],
  pullRequestAuthor: string,
): readonly (Approval & { readonly official: boolean })[] {
  const latest = new Map<string, PersonReview>();
  for (const review of reviews) {
    const login = review.author.toLowerCase();
    if (review.state === 'commented' || login === pullRequestAuthor.toLowerCase()) {
      continue;
    }
    latest.delete(login);
    latest.set(login, review);
  }
  return [...latest.values()]
    .filter((review) => review.state === 'approved')
    .map(({ author, sha, official }) => ({ author, sha, official }));
}
