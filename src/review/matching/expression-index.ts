import { compilePattern } from './pattern.ts';
import { ANY, makeWildcard, type Token } from './wildcard.ts';

/** An expression for the whole path, or for all other paths, as Gitea and Forgejo write them. */
export interface PathExpression {
  readonly negated: boolean;
  /** What every path begins with that the expression matches. */
  readonly prefix: string;
  /** Absent where it needs an engine: it does for paths with a line feed. */
  readonly matches?: (path: string) => boolean;
  /** For the engine. */
  readonly compiled: () => string;
}

/** `.*`, a character that means itself, or one that is escaped and means the same to every engine. None is repeated. */
const PLAIN = /(?:(\.\*)|\\([!-&(-/:;=-@[-^`{-~])|([^\\^$.|?*+()[\]{}]))(?![*+?{])/guy;

/** Most expressions are words and `.*`, which is compared without an engine. */
export function parsePathExpression(source: string): Pick<PathExpression, 'prefix' | 'matches'> {
  const tokens: Token[] = [];
  let at = 0;
  for (const [written, any, escaped, character] of source.matchAll(PLAIN)) {
    tokens.push(any === undefined ? (escaped ?? character ?? '') : ANY);
    at += written.length;
  }
  const literals = tokens.slice(0, [...tokens, ANY].indexOf(ANY));
  return {
    // An alternative may begin in another way.
    prefix: source.includes('|') ? '' : literals.join(''),
    ...(at === source.length && { matches: makeWildcard(tokens) }),
  };
}

export interface ExpressionIndex {
  add(pattern: PathExpression, line: number): void;
  /** The lines that match each path. */
  matching(paths: readonly string[]): readonly (readonly number[])[];
}

/** Lines by the folder that their prefix names. Only those for folders of paths are read again, by `patternOf`. */
export function makeExpressionIndex(patternOf: (line: number) => PathExpression | undefined): ExpressionIndex {
  const linesFor = new Map<string, number[]>();
  return {
    add({ negated, prefix }, line) {
      const folder = negated ? '' : prefix.slice(0, prefix.lastIndexOf('/') + 1);
      linesFor
        .set(folder, linesFor.get(folder) ?? [])
        .get(folder)
        ?.push(line);
    },
    matching(paths) {
      const found = paths.map((): number[] => []);
      for (const [folder, below] of pathsByFolder(paths)) {
        // Line by line, so that one program is kept at a time.
        for (const line of linesFor.get(folder) ?? []) {
          const isOwned = matcherOf(patternOf(line));
          for (const at of below) {
            if (isOwned(paths[at] ?? '')) {
              found[at]?.push(line);
            }
          }
        }
      }
      return found.map((lines) => lines.sort((one, other) => one - other));
    },
  };
}

function matcherOf(pattern: PathExpression | undefined): (path: string) => boolean {
  if (pattern === undefined) {
    return () => false;
  }
  const { negated, prefix, matches, compiled } = pattern;
  let program: ReturnType<typeof compilePattern> | undefined;
  return (path) => {
    if (matches !== undefined && !path.includes('\n')) {
      return matches(path) !== negated;
    }
    program ??= compilePattern(compiled());
    return (path.startsWith(prefix) && program.found(path)) !== negated;
  };
}

/** The indices of all paths that are somewhere below a folder. */
function pathsByFolder(paths: readonly string[]): ReadonlyMap<string, readonly number[]> {
  const below = new Map<string, number[]>([['', []]]);
  for (const [index, path] of paths.entries()) {
    below.get('')?.push(index);
    for (let end = path.indexOf('/') + 1; end > 0; end = path.indexOf('/', end) + 1) {
      const folder = path.slice(0, end);
      below
        .set(folder, below.get(folder) ?? [])
        .get(folder)
        ?.push(index);
    }
  }
  return below;
}
