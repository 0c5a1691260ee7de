/** Trailers of a commit message, read as git does (git-interpret-trailers, `--only-trailers --unfold --no-divider`). */

/** One line `Key: value` of the last paragraph. A value that was folded is one line again. */
export interface Trailer {
  readonly key: string;
  readonly value: string;
}

export interface Trailers {
  readonly trailers: readonly Trailer[];
  /** False when the last paragraph is larger than is read. */
  readonly complete: boolean;
}

/** Characters of a message, from its end, that are looked at. */
export const MAX_TRAILER_CHARACTERS = 32 * 1024;
const MAX_LINES = 2_000;
/** Git writes these itself. A paragraph with one of them may have other text too. */
const WRITTEN_BY_GIT = ['Signed-off-by: ', '(cherry picked from commit '];
/** A paragraph with a line of git's own counts if it has at most so many other lines for each trailer. */
const MAX_OTHER_LINES_EACH = 3;
const SCISSORS = '# ------------------------ >8 ------------------------';

/** Takes time in proportion to the message, and looks at its end only. */
export function trailersOf(message: string): Trailers {
  const whole = message.length <= MAX_TRAILER_CHARACTERS;
  const lines = message.slice(-MAX_TRAILER_CHARACTERS).split('\n');
  // The first line of a part may have lost its beginning.
  const body = withoutIgnoredEnd(whole ? lines : lines.slice(1));
  const start = startOfBlock(body, whole ? titleEnd(body) : 0);
  if (typeof start === 'string') {
    return { trailers: [], complete: whole || start === 'none' };
  }
  const block = body.slice(start);
  return block.length > MAX_LINES ? { trailers: [], complete: false } : { trailers: unfold(block), complete: true };
}

/** Without comments and blank lines at the end, the list of conflicts that git once wrote there, and a cut-off part. */
function withoutIgnoredEnd(lines: readonly string[]): readonly string[] {
  const cut = lines.indexOf(SCISSORS);
  const kept = cut === -1 ? lines : lines.slice(0, cut);
  let end: number | undefined;
  let inConflicts = false;
  for (const [index, line] of kept.entries()) {
    if (isComment(line) || line === '') {
      end ??= index;
    } else if (line === 'Conflicts:' && index < lines.length - 1) {
      inConflicts = true;
      end ??= index;
    } else if (!(inConflicts && line.startsWith('\t'))) {
      end = undefined;
      inConflicts = false;
    }
  }
  return kept.slice(0, end);
}

/** The first paragraph is the subject, and has no trailers. */
function titleEnd(lines: readonly string[]): number {
  const blank = lines.findIndex((line) => !isComment(line) && isBlank(line));
  return blank === -1 ? lines.length : blank;
}

/**
 * The first line of the last paragraph, if this is trailers alone, or has a line that git itself wrote and enough
 * trailers beside other text. `endless`: no blank line comes before it.
 */
function startOfBlock(lines: readonly string[], titleEndsAt: number): number | 'none' | 'endless' {
  let seenText = false;
  let ofGit = false;
  let trailers = 0;
  let others = 0;
  // Lines that continue the trailer before them, or else are other text.
  let folded = 0;
  for (let index = lines.length - 1; index >= titleEndsAt; index -= 1) {
    const line = lines[index] ?? '';
    if (isComment(line)) {
      others += folded;
      folded = 0;
    } else if (isBlank(line)) {
      if (seenText) {
        others += folded;
        const counts = ofGit ? trailers * MAX_OTHER_LINES_EACH >= others : trailers > 0 && others === 0;
        return counts ? index + 1 : 'none';
      }
    } else {
      seenText = true;
      if (WRITTEN_BY_GIT.some((prefix) => line.startsWith(prefix))) {
        ofGit = true;
        trailers += 1;
        folded = 0;
      } else if (separatorIn(line) > 0 && !startsWithSpace(line)) {
        trailers += 1;
        folded = 0;
      } else if (startsWithSpace(line)) {
        folded += 1;
      } else {
        others += folded + 1;
        folded = 0;
      }
    }
  }
  return 'endless';
}

function unfold(block: readonly string[]): readonly Trailer[] {
  const joined: { key: string; parts: string[] }[] = [];
  let last: { key: string; parts: string[] } | undefined;
  for (const line of block) {
    if (isComment(line)) {
      last = undefined;
      continue;
    }
    if (startsWithSpace(line) && last !== undefined) {
      last.parts.push(line.trim());
      continue;
    }
    const separator = separatorIn(line);
    last = { key: separator < 1 ? '' : line.slice(0, separator).trim(), parts: [line.slice(separator + 1).trim()] };
    joined.push(last);
  }
  return joined.filter(({ key }) => key !== '').map(({ key, parts }) => ({ key, value: parts.join(' ').trim() }));
}

/** Where the key ends: after letters, digits and `-`, and then perhaps spaces. -1: it is no trailer. */
function separatorIn(line: string): number {
  return (/^[A-Za-z0-9-]*[ \t]*:/.exec(line)?.[0].length ?? 0) - 1;
}

function isComment(line: string): boolean {
  return line.startsWith('#');
}

function isBlank(line: string): boolean {
  return /^[ \t\r\v\f]*$/.test(line);
}

function startsWithSpace(line: string): boolean {
  return /^[ \t\r\v\f]/.test(line);
}
