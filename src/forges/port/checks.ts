/** What was reported about a commit, in the words that all forges share. */

/** A commit status, or a check run of a GitHub App. */
export interface Check {
  readonly kind: 'status' | 'check-run';
  readonly name: string;
  /** The login that reported it. An App's is its slug with `[bot]` behind it. */
  readonly reporter: string;
  /** `pending` until it has ended, then the forge's word for the result. */
  readonly state: string;
}

/** All that a forge lists for a commit. `complete` is false when it did not list every one. */
export interface Checks {
  /** Newest first, and of each kind, name and reporter only the newest. */
  readonly checks: readonly Check[];
  readonly complete: boolean;
}

export const NOT_ENDED = 'pending';

/** Forges compare names and logins without case. The first of each kind, name and reporter stays. */
export function newestOfEach(newestFirst: readonly Check[]): readonly Check[] {
  const newest = new Map<string, Check>();
  for (const check of newestFirst) {
    const key = JSON.stringify([check.kind, check.name.toLowerCase(), check.reporter.toLowerCase()]);
    if (!newest.has(key)) {
      newest.set(key, check);
    }
  }
  return [...newest.values()];
}
