import type {
  CommentedCommand,
  MergeGroupRef,
  PushedCommits,
  PushedHead,
  StatusSetBy,
  Subject,
  ToldCommit,
} from './events.ts';
import type { Origin } from './origin.ts';
import type { PullRequestRef } from './pull-request.ts';

/**
 * The review that a delivery requests: of one pull request, of all into a branch, of those with a head whose policy
 * asks for what others have said, of a group of a merge queue, or what a command asks for.
 */
export type ReviewRequest = RequestedReview & { readonly origin?: Origin | undefined };

type RequestedReview =
  | ({
      readonly kind: 'review';
      // Recorded with its delivery.
      readonly pushed?: PushedHead;
    } & PullRequestRef)
  // In a resync, and by no delivery: it is judged again although nothing tells that it has changed.
  | ({ readonly kind: 'turn' } & PullRequestRef)
  | { readonly kind: 'review-repository'; readonly repository: string; readonly branch: string }
  | ({ readonly kind: 'push'; readonly repository: string; readonly branch: string } & PushedCommits)
  | ({
      readonly kind: 'default-push';
      readonly repository: string;
      readonly branch: string;
      /** When the webhook of the push came, ISO 8601. */
      readonly at: string;
    } & PushedCommits)
  | ({
      readonly kind: 'review-commit';
      readonly repository: string;
      readonly headSha: string;
      /** A status under Gatehouse's own name. The worker knows whether Gatehouse set it. */
      readonly ownName?: StatusSetBy;
    } & Pick<ToldCommit, 'facts' | 'by'>)
  | ({ readonly kind: 'review-merge-group'; readonly repository: string } & MergeGroupRef)
  | ({ readonly kind: 'command' } & PullRequestRef & CommentedCommand);

/** `isOwnContext`: whether Gatehouse sets commit statuses of this name. */
export function requestedReview(
  subject: Subject,
  isOwnContext: (context: string) => boolean,
): ReviewRequest | undefined {
  const { repository, pullRequest: number, reviewable, pushedBranch: branch, push, mergeGroup: group } = subject;
  if (repository === undefined) {
    return undefined;
  }
  if (reviewable && number !== undefined) {
    return { kind: 'review', repository, number };
  }
  if (subject.command !== undefined && number !== undefined) {
    return { kind: 'command', repository, number, ...subject.command };
  }
  if (group !== undefined) {
    return { kind: 'review-merge-group', repository, ...group };
  }
  if (subject.toldCommit !== undefined) {
    const { status, ...told } = subject.toldCommit;
    const isOwnName = status !== undefined && isOwnContext(status.context);
    return { kind: 'review-commit', repository, ...told, ...(isOwnName && { ownName: status }) };
  }
  if (branch === undefined) {
    return undefined;
  }
  return push === undefined
    ? { kind: 'review-repository', repository, branch }
    : { kind: 'push', repository, branch, ...push };
}
