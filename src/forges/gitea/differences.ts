/** Where Gitea and Forgejo differ, as far as it matters here. */
export interface Differences {
  /**
   * How one comment at a line is deleted. Forgejo has a route of its own for it. Gitea has that of any comment,
   * which before 1.24.6 answered 204 and left a comment at a line where it was (go-gitea/gitea#35296): there its
   * answer is not trusted.
   */
  readonly inlineCommentDeletion: 'by-review' | 'as-any-comment';
}

export const DIFFERENCES = {
  gitea: { inlineCommentDeletion: 'as-any-comment' },
  forgejo: { inlineCommentDeletion: 'by-review' },
} as const satisfies Record<'gitea' | 'forgejo', Differences>;
