import { ForgeError } from './forge-error.ts';

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

/**
 * The result of a check that returns what is missing, or throws what the forge answered. A rate limit says nothing about the
 * credentials, so that error is thrown on.
 */
export async function accessBy(missingScopes: () => Promise<readonly string[]>): Promise<Access> {
  try {
    const scopes = await missingScopes();
    return scopes.length === 0 ? { kind: 'granted' } : { kind: 'missing-scope', scopes };
  } catch (error) {
    if (!(error instanceof ForgeError) || error.kind === 'rate-limited') {
      throw error;
    }
    return { kind: error.kind === 'refused' ? 'not-accepted' : 'unreachable', reason: error.message };
  }
}
