import { structuredPatch } from 'diff';
import { blobId, type Tree } from './git.ts';

export interface FileChange {
  readonly path: string;
  readonly previousPath?: string;
  readonly status: 'added' | 'modified' | 'removed' | 'renamed';
  readonly additions: number;
  readonly deletions: number;
  readonly binary: boolean;
  readonly patch: string;
  /** Of the new side, or of the old one of a removed file. */
  readonly blob: string;
  /** Of both sides, as git begins the line `index` with them. */
  readonly index: string;
}

const NOTHING: Buffer = Buffer.alloc(0);
/** git looks for a NUL in this many bytes to call a file binary. */
const BINARY_PROBE_BYTES = 8_000;
const CONTEXT_LINES = 3;

export function compareTrees(before: Tree, after: Tree): readonly FileChange[] {
  const removed = [...before.keys()].filter((path) => !after.has(path));
  const added = [...after.keys()].filter((path) => !before.has(path));
  const renames = findRenames(before, after, removed, added);
  const renamedFrom = new Set(renames.values());
  const changes = [
    ...added.map((path) => {
      const from = renames.get(path);
      return from === undefined
        ? change(path, 'added', NOTHING, after.get(path))
        : { ...change(path, 'renamed', before.get(from), after.get(path)), previousPath: from };
    }),
    ...removed
      .filter((path) => !renamedFrom.has(path))
      .map((path) => change(path, 'removed', before.get(path), undefined)),
    ...[...after.keys()]
      .filter((path) => before.has(path) && !before.get(path)?.equals(after.get(path) ?? NOTHING))
      .map((path) => change(path, 'modified', before.get(path), after.get(path))),
  ];
  return changes.toSorted((one, other) => (one.path < other.path ? -1 : 1));
}

/** As `git diff` prints it. The `diff` package's own printing has no line for a binary file and no similarity index. */
export function printDiff(changes: readonly FileChange[]): string {
  return changes.map(printFile).join('');
}

function printFile(file: FileChange): string {
  const from = `a/${file.previousPath ?? file.path}`;
  const to = `b/${file.path}`;
  const lines = [`diff --git ${quote(from)} ${quote(to)}`];
  if (file.status === 'added') {
    lines.push(`new file mode ${MODE}`);
  } else if (file.status === 'removed') {
    lines.push(`deleted file mode ${MODE}`);
  } else if (file.previousPath !== undefined) {
    const similarity = file.patch === '' && !file.binary ? 100 : 90;
    lines.push(`similarity index ${similarity}%`);
    lines.push(`rename from ${quote(file.previousPath)}`, `rename to ${quote(file.path)}`);
  }
  if (file.patch !== '' || file.binary || file.status !== 'renamed') {
    const mode = file.status === 'added' || file.status === 'removed' ? '' : ` ${MODE}`;
    lines.push(`index ${file.index}${mode}`);
  }
  const oldSide = file.status === 'added' ? '/dev/null' : from;
  const newSide = file.status === 'removed' ? '/dev/null' : to;
  if (file.binary) {
    lines.push(`Binary files ${quote(oldSide)} and ${quote(newSide)} differ`);
  } else if (file.patch !== '') {
    lines.push(`--- ${quote(oldSide)}${tab(oldSide)}`, `+++ ${quote(newSide)}${tab(newSide)}`, file.patch);
  }
  return `${lines.join('\n')}\n`;
}

/** With core.quotePath off, as Gitea and Forgejo set it, git quotes only these. The `diff` package quotes as if it were on. */
function quote(path: string): string {
  return /["\\\n\t]/.test(path)
    ? `"${path.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n').replaceAll('\t', '\\t')}"`
    : path;
}

function tab(path: string): string {
  return path.includes(' ') ? '\t' : '';
}

function change(path: string, status: FileChange['status'], before = NOTHING, after = NOTHING): FileChange {
  const binary = isBinary(before) || isBinary(after);
  const patch = binary ? '' : unifiedHunks(before.toString('utf8'), after.toString('utf8'));
  const lines = patch.split('\n');
  return {
    path,
    status,
    additions: lines.filter((line) => line.startsWith('+')).length,
    deletions: lines.filter((line) => line.startsWith('-')).length,
    binary,
    patch,
    blob: blobId(status === 'removed' ? before : after),
    index: `${abbreviated(before, status === 'added')}..${abbreviated(after, status === 'removed')}`,
  };
}

const MODE = '100644';
/** Digits of an object id that git shows in a repository of this size. */
const ABBREVIATION = 7;

function abbreviated(content: Buffer, absent: boolean): string {
  return absent ? '0'.repeat(ABBREVIATION) : blobId(content).slice(0, ABBREVIATION);
}

/** Hunks of a unified diff, as `git diff` writes them after the `+++` line; '' when nothing differs. */
function unifiedHunks(before: string, after: string): string {
  const { hunks } = structuredPatch('', '', before, after, '', '', { context: CONTEXT_LINES });
  return hunks
    .flatMap(({ oldStart, oldLines, newStart, newLines, lines }) => [
      `@@ -${range(oldStart, oldLines)} +${range(newStart, newLines)} @@`,
      ...lines,
    ])
    .join('\n');
}

/** git leaves out a count of one, and names the line before an empty range. */
function range(start: number, lines: number): string {
  return lines === 1 ? String(start) : `${lines === 0 ? start - 1 : start},${lines}`;
}

function isBinary(content: Buffer): boolean {
  return content.subarray(0, BINARY_PROBE_BYTES).includes(0);
}

/** New path to old path: the same content, or the same name with half of its lines. git's own measure is finer. */
function findRenames(before: Tree, after: Tree, removed: readonly string[], added: readonly string[]) {
  const renames = new Map<string, string>();
  const left = new Set(removed);
  for (const path of added) {
    const content = after.get(path) ?? NOTHING;
    const from = content.byteLength > 0 && [...left].find((old) => isAlike(before.get(old) ?? NOTHING, content));
    if (from) {
      renames.set(path, from);
      left.delete(from);
    }
  }
  return renames;
}

function isAlike(before: Buffer, after: Buffer): boolean {
  if (before.equals(after)) {
    return true;
  }
  const old = new Set(before.toString('utf8').split('\n'));
  const lines = after.toString('utf8').split('\n');
  return lines.filter((line) => old.has(line)).length * 2 > Math.max(lines.length, old.size);
}
