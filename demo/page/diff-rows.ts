import { structuredPatch } from 'diff';

/** A line of a difference. `head` is the header of a hunk. */
export type DiffRow =
  | { readonly kind: 'head'; readonly text: string }
  | {
      readonly kind: 'same' | 'added' | 'removed';
      readonly before?: number;
      readonly after?: number;
      readonly text: string;
    };

/** Lines of context that forges show around a change. */
const CONTEXT_LINES = 3;

/** The difference between two versions of a file, with the numbers of its lines on both sides. */
export function diffRows(before: string, after: string): readonly DiffRow[] {
  const { hunks } = structuredPatch('', '', before, after, '', '', { context: CONTEXT_LINES });
  return hunks.flatMap(({ oldStart, oldLines, newStart, newLines, lines }) => {
    let old = oldStart;
    let next = newStart;
    const text = `@@ -${range(oldStart, oldLines)} +${range(newStart, newLines)} @@`;
    return [
      { kind: 'head', text },
      // A line that begins with `\` says that the file has no line break at its end.
      ...lines
        .filter((line) => !line.startsWith('\\'))
        .map((line): DiffRow => {
          const text = line.slice(1);
          if (line.startsWith('+')) {
            return { kind: 'added', after: next++, text };
          }
          return line.startsWith('-')
            ? { kind: 'removed', before: old++, text }
            : { kind: 'same', before: old++, after: next++, text };
        }),
    ];
  });
}

/** An empty range is named by the line before it, as git does. */
function range(start: number, lines: number): string {
  return `${lines === 0 ? start - 1 : start},${lines}`;
}
