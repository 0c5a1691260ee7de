/** What was reported about a commit, in the words that all forges share. */

/** A commit status, or a check run of a GitHub App. */
export interface Check {
  readonly kind: 'status' | 'check-run';
  readonly name: string;
  /** The login that reported it. An App's is its slug with `[bot]` behind it. */
  readonly reporter: string;
  /** `pending` until it has ended, then the forge's word for the result. */
  readonly state: string;
  /** The page that its reporter names, whatever text that is. Absent: none. */
  readonly url?: string;
}

/** What groups the check runs of one App. Of GitHub Actions it is one run of a workflow. */
export interface CheckSuite {
  /** As in {@link Check}. */
  readonly reporter: string;
  /** `queued` while it has no run and has not begun, {@link NOT_ENDED} until it has ended, then the result. */
  readonly state: string;
  /** The states of its runs, also where those of a newer suite count in their place. */
  readonly runs: readonly string[];
}

/** All that counts of what a forge lists for a commit, see standing-checks.ts. */
export interface Checks {
  /** Newest first. Of each kind, name and reporter there can be several. */
  readonly checks: readonly Check[];
  /** None where the forge has no check suites. */
  readonly suites: readonly CheckSuite[];
  /** False when not all was listed. */
  readonly complete: boolean;
  /** The permission without which the rest could not be read, as the forge's settings name it. */
  readonly lacking?: string;
}

export const NOT_ENDED = 'pending';
export const QUEUED = 'queued';
