import type { ForgeName } from '../port/forges.ts';

/** Where the forges with Gitea's API differ, as far as it matters here. */
export interface Differences {
  /**
   * How one comment at a line is deleted. Forgejo has a route of its own for it. Gitea has that of any comment,
   * which before 1.24.6 answered 204 and left a comment at a line where it was (go-gitea/gitea#35296): there its
   * answer is not trusted.
   */
  readonly inlineCommentDeletion: 'by-review' | 'as-any-comment';
  /** Whether it sends webhooks for commit statuses. */
  readonly sendsStatuses: boolean;
}

export const DIFFERENCES = {
  gitea: { inlineCommentDeletion: 'as-any-comment', sendsStatuses: true },
  forgejo: { inlineCommentDeletion: 'by-review', sendsStatuses: false },
} as const satisfies Partial<Record<ForgeName, Differences>>;

export type GiteaName = keyof typeof DIFFERENCES;
