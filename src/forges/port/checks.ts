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

/** A check run, and the id of its check suite. */
export interface CheckRun extends Check {
  readonly suite: string;
}

/** What groups the check runs of one App. Of GitHub Actions it is one run of a workflow. */
export interface CheckSuite {
  readonly id: string;
  /** As in {@link Check}. */
  readonly reporter: string;
  /** `queued` while it has no run and has not begun, {@link NOT_ENDED} until it has ended, then the result. */
  readonly state: string;
}

/** What GitHub alone has, and what only those read who ask for all checks. */
export interface CheckSuites {
  readonly suites: readonly CheckSuite[];
  /** The newest of each suite and name. */
  readonly runs: readonly CheckRun[];
}

/** All that a forge lists for a commit. `complete` is false when it did not list every one. */
export interface Checks {
  /** Newest first, and of each kind, name and reporter only the newest. */
  readonly checks: readonly Check[];
  readonly complete: boolean;
  /** Absent where it was not asked for. Where the forge has no check suites there is none in it. */
  readonly bySuite?: CheckSuites;
}

export interface AskedChecks {
  /** Whether check suites are read, and the runs of each. */
  readonly suites: boolean;
}

export const NOT_ENDED = 'pending';
export const QUEUED = 'queued';
export const NO_SUITES: CheckSuites = { suites: [], runs: [] };

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
