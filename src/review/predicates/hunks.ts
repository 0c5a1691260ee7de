import { Lines, parseHunkHeader, readHunk } from '../../common/hunks.ts';

/** A line on the new side of a change. */
interface AddedLine {
  /** Line number in the file as the head has it, from 1. */
  readonly line: number;
  /** Without its line end. */
  readonly text: string;
}

export interface Hunks {
  readonly added: readonly AddedLine[];
  /** False when the text ends before its hunks do, or is not hunks at all. */
  readonly complete: boolean;
}

/** The added lines of a patch without file headers. Reading stops at the first hunk that is not whole. */
export function parseHunks(patch: string): Hunks {
  const added: AddedLine[] = [];
  const lines = new Lines(patch);
  while (!lines.done) {
    const row = lines.next();
    const header = parseHunkHeader(row);
    const whole =
      header === undefined
        ? row.trim() === ''
        : readHunk(header, lines, (line, text) => added.push({ line, text })).whole;
    if (!whole) {
      return { added, complete: false };
    }
  }
  return { added, complete: true };
}
