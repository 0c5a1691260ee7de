/** Whether the forge accepts Gatehouse's credentials. */
export type Access =
  | { readonly kind: 'granted' }
  /** The forge refuses every request: the token or key is wrong, expired or revoked. */
  | { readonly kind: 'not-accepted'; readonly reason: string }
  /** `scopes` are the names of scopes or permissions that every review needs. */
  | { readonly kind: 'missing-scope'; readonly scopes: readonly string[] }
  /** No usable answer: the forge is down, or FORGE_URL is not its address. */
  | { readonly kind: 'unreachable'; readonly reason: string };

export interface AccessCheck {
  /** Asks the forge now whether it accepts the credentials for every review. Throws in a rate limit. */
  checkAccess(): Promise<Access>;
}
