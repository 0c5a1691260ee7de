import { Lines, parseHunkHeader, readHunk } from '../common/hunks.ts';

/** Characters of one file's patch. A longer one is dropped. */
export const MAX_PATCH_LENGTH = 1_000_000;

/** What `git diff` says of one file. */
export interface FileDiff {
  readonly path: string;
  /** Where it was before a rename. */
  readonly previousPath: string | undefined;
  readonly status: 'added' | 'modified' | 'removed' | 'renamed';
  readonly additions: number;
  readonly deletions: number;
  readonly diff:
    | { readonly kind: 'text'; readonly patch: string }
    | { readonly kind: 'binary' }
    | { readonly kind: 'too-large' };
}

/**
 * Splits the output of `git diff` by file; keys are the new path, or the old one of a removed file.
 *
 * Hunks are read by the counts in their headers, so the content of a file cannot look like the start of another.
 * Lines end at `\n` alone: a `\r` belongs to the line, as it does for git. What does not parse, or ends within a hunk,
 * is left out, and its file is then unknown to the reader rather than wrong.
 */
export function splitDiff(diff: string): Map<string, FileDiff> {
  const files = new Map<string, FileDiff>();
  const lines = new Lines(diff);
  while (!lines.done) {
    const header = lines.next();
    if (header.startsWith('diff --git ')) {
      const file = readFile(header, lines);
      if (file !== undefined) {
        files.set(file.path, withOtherPart(files.get(file.path), file));
      }
    }
  }
  return files;
}

/** A file that becomes a link or a submodule is in the diff twice: removed, and then added. */
function withOtherPart(removed: FileDiff | undefined, added: FileDiff): FileDiff {
  if (removed === undefined) {
    return added;
  }
  return {
    ...added,
    status: 'modified',
    additions: removed.additions + added.additions,
    deletions: removed.deletions + added.deletions,
    diff: bothDiffs(removed.diff, added.diff),
  };
}

function bothDiffs(one: FileDiff['diff'], other: FileDiff['diff']): FileDiff['diff'] {
  if (one.kind !== 'text') {
    return one;
  }
  return other.kind === 'text' ? { kind: 'text', patch: `${one.patch}\n${other.patch}` } : other;
}

/** Added and removed lines of a patch as GitHub and Gitea give them: hunks alone. */
export function countLines(patch: string): { additions: number; deletions: number } {
  const counts = { additions: 0, deletions: 0 };
  const lines = new Lines(patch);
  while (!lines.done) {
    const hunk = parseHunkHeader(lines.next());
    if (hunk !== undefined) {
      const read = readHunk(hunk, lines);
      counts.additions += read.additions;
      counts.deletions += read.deletions;
    }
  }
  return counts;
}

function readFile(header: string, lines: Lines): FileDiff | undefined {
  let path = pathOfHeader(header.slice('diff --git '.length));
  let previousPath: string | undefined;
  let status: FileDiff['status'] = 'modified';
  let binary = false;
  let whole = true;
  let additions = 0;
  let deletions = 0;
  const start = { hunks: -1, end: -1 };
  while (!lines.done && !lines.peek().startsWith('diff --git ')) {
    const from = lines.position;
    const line = lines.next();
    const hunk = parseHunkHeader(line);
    if (hunk !== undefined) {
      const read = readHunk(hunk, lines);
      whole &&= read.whole;
      additions += read.additions;
      deletions += read.deletions;
      start.hunks = start.hunks < 0 ? from : start.hunks;
      start.end = lines.position;
    } else if (line.startsWith('rename to ') || line.startsWith('copy to ')) {
      path = unquote(line.slice(line.indexOf(' to ') + ' to '.length));
      status = line.startsWith('rename') ? 'renamed' : 'added';
    } else if (line.startsWith('rename from ')) {
      previousPath = unquote(line.slice('rename from '.length));
    } else if (line.startsWith('new file mode ')) {
      status = 'added';
    } else if (line.startsWith('deleted file mode ')) {
      status = 'removed';
    } else if (line.startsWith('--- ') || line.startsWith('+++ ')) {
      path = pathOfSide(line.slice('+++ '.length)) ?? path;
    } else if (line.startsWith('Binary files ') || line === 'GIT binary patch') {
      binary = true;
    }
  }
  if (path === undefined || !whole) {
    return undefined;
  }
  const file = { path, previousPath, status, additions, deletions };
  if (binary) {
    return { ...file, diff: { kind: 'binary' } };
  }
  const patch = start.hunks < 0 ? '' : lines.slice(start.hunks, start.end);
  return { ...file, diff: diffOfPatch(patch) };
}

/**
 * What is known of a text file's lines by its patch. What only points elsewhere is like a binary file: no line of it
 * can be read.
 */
export function diffOfPatch(patch: string): FileDiff['diff'] {
  if (isPointer(patch)) {
    return { kind: 'binary' };
  }
  return patch.length > MAX_PATCH_LENGTH ? { kind: 'too-large' } : { kind: 'text', patch };
}

/**
 * The first line of a pointer file (https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md), and of its old form.
 */
const LFS_VERSION = /^version https:\/\/(?:git-lfs|hawser)\.github\.com\/spec\/v1\r?$/;

/** How git writes the only line of a submodule: its content is a commit of another repository. */
const SUBMODULE = /^Subproject commit (?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/**
 * Whether a patch leaves no more than a pointer to content that is elsewhere: a file in Git LFS, or a submodule. The
 * lines that everybody gets at a checkout are not in the patch, and cannot be read.
 */
function isPointer(patch: string): boolean {
  const header = parseHunkHeader(patch.slice(0, Math.max(0, patch.indexOf('\n'))));
  const firstLine = /\n[+ ]([^\n]*)/.exec(patch)?.[1];
  if (header?.newStart !== 1 || firstLine === undefined) {
    return false;
  }
  return LFS_VERSION.test(firstLine) || (header.newCount === 1 && SUBMODULE.test(firstLine));
}

/** From `a/path b/path`, which says the same path twice unless a rename follows, and then that one counts. */
function pathOfHeader(sides: string): string | undefined {
  if (sides.startsWith('"')) {
    const quoted = /^"(?:[^"\\]|\\.)*"/.exec(sides)?.[0];
    return quoted === undefined ? undefined : unquote(quoted).slice('a/'.length);
  }
  const length = (sides.length - 'a/ b/'.length) / 2;
  const path = sides.slice('a/'.length, 'a/'.length + length);
  return sides === `a/${path} b/${path}` ? path : undefined;
}

/** From a `---` or `+++` line: undefined for `/dev/null`. A path with a space is followed by a tab. */
function pathOfSide(side: string): string | undefined {
  const path = side.startsWith('"') ? unquote(side) : side.replace(/\t$/, '');
  return path === '/dev/null' ? undefined : path.slice('a/'.length);
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', a: '\x07', b: '\b', f: '\f', v: '\v' };

/** git writes unusual paths as C strings, with the bytes of UTF-8 as octal escapes. */
function unquote(path: string): string {
  if (!path.startsWith('"')) {
    return path;
  }
  const latin1 = Buffer.from(path.slice(1, -1), 'utf8')
    .toString('latin1')
    .replace(/\\([0-7]{3}|.)/g, (_, code: string) =>
      code.length === 3 ? String.fromCharCode(Number.parseInt(code, 8)) : (ESCAPES[code] ?? code),
    );
  return Buffer.from(latin1, 'latin1').toString('utf8');
}
