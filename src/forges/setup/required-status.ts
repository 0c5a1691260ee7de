/** What happened to the request to require a commit status on a branch. Nothing is ever removed from a protection. */
export type Required =
  /** It was required before. */
  | { readonly kind: 'already' }
  /** `what` was changed or made, for people. */
  | { readonly kind: 'added'; readonly what: string }
  /** It cannot be added without changing something else. Nothing was changed. */
  | { readonly kind: 'by-hand'; readonly reason: string };

/** The commit status to require on a branch. */
export interface WantedStatus {
  readonly repository: string;
  readonly branch: string;
  /** The name of the status. */
  readonly context: string;
  /** The App that sets it, where there is one. */
  readonly appId: string | undefined;
}
