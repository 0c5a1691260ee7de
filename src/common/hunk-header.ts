/** Where a hunk of a unified diff begins in the new file, and how many lines of either file it has. */
export interface HunkHeader {
  readonly oldCount: number;
  /** From 1. */
  readonly newStart: number;
  readonly newCount: number;
}

/** Reads `@@ -1,3 +1,4 @@` (POSIX diff -u). A count left out is 1. Undefined for any other line. */
export function parseHunkHeader(line: string): HunkHeader | undefined {
  const found = /^@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line);
  if (found === null) {
    return undefined;
  }
  const [, oldCount = 1, newStart, newCount = 1] = found;
  return { oldCount: Number(oldCount), newStart: Number(newStart), newCount: Number(newCount) };
}
