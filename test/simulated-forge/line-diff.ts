/** Lines of context that git shows around a change. */
const CONTEXT = 3;
/** Beyond this many comparisons the whole middle counts as replaced: still a right diff, only not the shortest. */
const MOST_COMPARISONS = 4_000_000;

interface Edit {
  readonly mark: ' ' | '+' | '-';
  readonly line: string;
}

/** Hunks of a unified diff, as `git diff` writes them after the `+++` line; '' when nothing differs. */
export function unifiedHunks(before: string, after: string): string {
  const edits = compare(splitLines(before), splitLines(after));
  return hunksOf(edits).join('\n');
}

/** Each line keeps its end, so that a last line without one differs from the same line with one. */
function splitLines(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

function compare(before: readonly string[], after: readonly string[]): Edit[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) {
    start += 1;
  }
  let same = 0;
  const most = Math.min(before.length, after.length) - start;
  while (same < most && before[before.length - 1 - same] === after[after.length - 1 - same]) {
    same += 1;
  }
  const middle = compareMiddle(before.slice(start, before.length - same), after.slice(start, after.length - same));
  const kept = (line: string): Edit => ({ mark: ' ', line });
  return [...before.slice(0, start).map(kept), ...middle, ...before.slice(before.length - same).map(kept)];
}

/** By the table of longest common subsequences. */
function compareMiddle(before: readonly string[], after: readonly string[]): Edit[] {
  const removed = before.map((line): Edit => ({ mark: '-', line }));
  const added = after.map((line): Edit => ({ mark: '+', line }));
  const width = after.length + 1;
  if (before.length === 0 || after.length === 0 || before.length * width > MOST_COMPARISONS) {
    return [...removed, ...added];
  }
  const lengths = new Uint32Array((before.length + 1) * width);
  const at = (row: number, column: number) => lengths[row * width + column] ?? 0;
  for (let row = before.length - 1; row >= 0; row -= 1) {
    for (let column = after.length - 1; column >= 0; column -= 1) {
      lengths[row * width + column] =
        before[row] === after[column]
          ? at(row + 1, column + 1) + 1
          : Math.max(at(row + 1, column), at(row, column + 1));
    }
  }
  const edits: Edit[] = [];
  let row = 0;
  let column = 0;
  while (row < before.length && column < after.length) {
    if (before[row] === after[column]) {
      edits.push({ mark: ' ', line: before[row] ?? '' });
      row += 1;
      column += 1;
    } else if (at(row + 1, column) >= at(row, column + 1)) {
      edits.push({ mark: '-', line: before[row++] ?? '' });
    } else {
      edits.push({ mark: '+', line: after[column++] ?? '' });
    }
  }
  return [...edits, ...removed.slice(row), ...added.slice(column)];
}

function hunksOf(edits: readonly Edit[]): string[] {
  const hunks: string[] = [];
  let from = 0;
  while (from < edits.length) {
    const first = edits.findIndex((edit, index) => index >= from && edit.mark !== ' ');
    if (first < 0) {
      break;
    }
    let last = first;
    for (let index = first; index < edits.length && index - last <= 2 * CONTEXT; index += 1) {
      last = edits[index]?.mark === ' ' ? last : index;
    }
    const start = Math.max(from, first - CONTEXT);
    const end = Math.min(edits.length, last + CONTEXT + 1);
    hunks.push(hunk(edits, start, end));
    from = end;
  }
  return hunks;
}

function hunk(edits: readonly Edit[], start: number, end: number): string {
  const within = edits.slice(start, end);
  const oldCount = count(within, '+');
  const newCount = count(within, '-');
  const before = edits.slice(0, start);
  const header = `@@ -${range(count(before, '+'), oldCount)} +${range(count(before, '-'), newCount)} @@`;
  const lines = within.map(({ mark, line }) =>
    line.endsWith('\n') ? `${mark}${line.slice(0, -1)}` : `${mark}${line}\n\\ No newline at end of file`,
  );
  return [header, ...lines].join('\n');
}

/** Lines of one side: all but those only the other side has. */
function count(edits: readonly Edit[], otherSide: '+' | '-'): number {
  return edits.filter((edit) => edit.mark !== otherSide).length;
}

/** git leaves out a count of one, and names the line before an empty range. */
function range(linesBefore: number, lines: number): string {
  const start = lines === 0 ? linesBefore : linesBefore + 1;
  return lines === 1 ? String(start) : `${start},${lines}`;
}
