import type { Counts } from './tally.ts';

export interface Outcome {
  readonly counts: Counts;
  readonly exitCode: number;
  /** Lines for people, and for whoever counts them: `FLAKY: file › title`, `FINDING: file › title`, why it ended. */
  readonly closing: readonly string[];
}

export interface Summary {
  /** The closing lines; the last is `N passed, N failed`. */
  readonly lines: string;
  readonly exitCode: number;
}

/**
 * A run in which nothing was executed has failed; and a run that failed says so in its last line even where no test can be
 * blamed, as when a file cannot be loaded.
 */
export function summarize({ counts, exitCode: given, closing }: Outcome): Summary {
  const { passed, failed, skipped } = counts;
  const exitCode = given === 0 && (passed + failed === 0 || failed > 0) ? 1 : given;
  const failures = exitCode === 0 ? failed : Math.max(failed, 1);
  const parts = [`${passed} passed`, `${failures} failed`, ...(skipped > 0 ? [`${skipped} skipped`] : [])];
  return { lines: [...closing, parts.join(', '), ''].join('\n'), exitCode };
}
