import { parseHunkHeader } from '../../common/hunk-header.ts';

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

/**
 * Reads unified hunks (POSIX diff -u, without the file header).
 *
 * The counts in a hunk's header say where it ends, not the look of its lines: an added line `++ x` and a removed
 * line `-- x` look like file headers.
 */
export function parseHunks(patch: string): Hunks {
  const added: AddedLine[] = [];
  let line = 0;
  let oldLeft = 0;
  let newLeft = 0;
  let hunks = 0;
  const rows = patch.split('\n');
  if (rows.at(-1) === '') {
    rows.pop();
  }
  for (const row of rows) {
    if (oldLeft === 0 && newLeft === 0) {
      const header = parseHunkHeader(row);
      if (header === undefined) {
        if (row.startsWith('\\') || row.trim() === '') {
          continue;
        }
        return { added, complete: false };
      }
      hunks += 1;
      oldLeft = header.oldCount;
      line = header.newStart;
      newLeft = header.newCount;
      continue;
    }
    const kind = row[0];
    if (kind === '\\') {
      continue; // "\ No newline at end of file" belongs to the line before it
    }
    if (kind === '+') {
      added.push({ line, text: row.slice(1).replace(/\r$/, '') });
      line += 1;
      newLeft -= 1;
    } else if (kind === '-') {
      oldLeft -= 1;
    } else if (kind === ' ' || kind === undefined || row === '\r') {
      // Some tools strip the one space of an empty context line.
      line += 1;
      oldLeft -= 1;
      newLeft -= 1;
    } else {
      return { added, complete: false };
    }
    if (oldLeft < 0 || newLeft < 0) {
      return { added, complete: false };
    }
  }
  return { added, complete: oldLeft === 0 && newLeft === 0 && (hunks > 0 || patch.trim() === '') };
}
