/** The counts of a run of AVA so far, sent by ava.config.js to the test runner. */
export interface Counts {
  readonly passed: number;
  /** Failed tests and hooks, and tests that were begun or due and never ended. */
  readonly failed: number;
  readonly skipped: number;
}

/** The part of AVA's `stats` event that counts. */
export interface AvaStats {
  readonly passedTests: number;
  readonly passedKnownFailingTests: number;
  readonly failedTests: number;
  readonly failedHooks: number;
  readonly remainingTests: number;
  readonly skippedTests: number;
  readonly todoTests: number;
}

export function countsOf(stats: AvaStats): Counts {
  return {
    passed: stats.passedTests + stats.passedKnownFailingTests,
    failed: stats.failedTests + stats.failedHooks + stats.remainingTests,
    skipped: stats.skippedTests + stats.todoTests,
  };
}

export interface Summary {
  readonly line: string;
  readonly exitCode: number;
}

/**
 * The closing line and the exit code. A run in which nothing was executed has failed; and a run that failed
 * says so in its line even where no test can be blamed, as when a file cannot be loaded.
 */
export function summarize(counts: Counts | undefined, avaExitCode: number): Summary {
  const { passed, failed, skipped } = counts ?? { passed: 0, failed: 0, skipped: 0 };
  const nothingRan = passed + failed === 0;
  const exitCode = avaExitCode === 0 && (nothingRan || failed > 0) ? 1 : avaExitCode;
  const failures = exitCode === 0 ? failed : Math.max(failed, 1);
  const parts = [`${passed} passed`, `${failures} failed`, ...(skipped > 0 ? [`${skipped} skipped`] : [])];
  return { line: parts.join(', '), exitCode };
}
