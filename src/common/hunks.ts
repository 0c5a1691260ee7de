/** Unified hunks (POSIX diff -u), as git and the forges write them. */

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

export interface HunkRead {
  readonly additions: number;
  readonly deletions: number;
  /** False when the text ends before the hunk does, or has a line that no hunk has. */
  readonly whole: boolean;
}

/**
 * Reads the lines of one hunk. The counts in its header say where it ends, not the look of its lines: an added line `++
 * x` and a removed line `-- x` look like file headers. `onAdded` gets each added line without its line end, and its
 * number in the new file.
 */
export function readHunk(
  { oldCount, newStart, newCount }: HunkHeader,
  lines: Lines,
  onAdded?: (line: number, text: string) => void,
): HunkRead {
  const left = { old: oldCount, new: newCount };
  let line = newStart;
  let additions = 0;
  let deletions = 0;
  let wellFormed = true;
  while (!lines.done && (left.old > 0 || left.new > 0)) {
    const row = lines.next();
    const mark = row[0];
    if (mark === '\\') {
      continue; // "\ No newline at end of file" belongs to the line before it
    }
    if (mark === '+') {
      onAdded?.(line, row.slice(1).replace(/\r$/, ''));
      additions += 1;
    } else if (mark === '-') {
      deletions += 1;
    } else {
      // Some tools strip the one space of an empty context line.
      wellFormed &&= mark === ' ' || mark === undefined || row === '\r';
    }
    if (mark !== '-') {
      line += 1;
      left.new -= 1;
    }
    if (mark !== '+') {
      left.old -= 1;
    }
  }
  if (!lines.done && lines.peek().startsWith('\\')) {
    lines.next();
  }
  return { additions, deletions, whole: wellFormed && left.old === 0 && left.new === 0 };
}

/** Reads a text by lines without splitting it into an array: diffs can be tens of megabytes. */
export class Lines {
  readonly #text: string;
  position = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get done(): boolean {
    return this.position >= this.#text.length;
  }

  peek(): string {
    return this.#text.slice(this.position, this.#end());
  }

  next(): string {
    const line = this.peek();
    this.position = this.#end() + 1;
    return line;
  }

  /** The text between two positions, without the last line's end. */
  slice(from: number, to: number): string {
    return this.#text.slice(from, Math.min(to, this.#text.length + 1) - 1);
  }

  #end(): number {
    const end = this.#text.indexOf('\n', this.position);
    return end < 0 ? this.#text.length : end;
  }
}
