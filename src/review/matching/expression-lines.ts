import { compilePattern } from './pattern.ts';
import { ANY, makeWildcard, type Token } from './wildcard.ts';

/** An expression for the whole path, as Gitea and Forgejo write them. */
interface PathExpression {
  /** What every path begins with that matches. */
  readonly prefix: string;
  /** Absent where it needs an engine: it does for paths with a line feed. */
  readonly matches?: (path: string) => boolean;
}

/** `.*`, a character that means itself, or one that is escaped and means the same to every engine. None is repeated. */
const PLAIN = /(?:(\.\*)|\\([!-&(-/:;=-@[-^`{-~])|([^\\^$.|?*+()[\]{}]))(?![*+?{])/guy;

/** Most expressions are words and `.*`, which is compared without an engine. */
export function parsePathExpression(source: string): PathExpression {
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

export interface ExpressionLine extends PathExpression {
  readonly negated: boolean;
  /** For the engine, and only made where that is needed. */
  readonly expression: () => string;
}

/** The lines that match each path, by their indices. */
export function matchingLines(
  lines: readonly ExpressionLine[],
  paths: readonly string[],
): readonly (readonly number[])[] {
  const found = paths.map((): number[] => []);
  const below = pathsByFolder(paths);
  // Line by line, so that one program is kept at a time.
  for (const [index, line] of lines.entries()) {
    const { prefix, negated } = line;
    const matches = matcherOf(line);
    for (const at of below.get(negated ? '' : folderOf(prefix)) ?? []) {
      const path = paths[at] ?? '';
      if ((path.startsWith(prefix) && matches(path)) !== negated) {
        found[at]?.push(index);
      }
    }
  }
  return found;
}

function matcherOf({ matches, expression }: ExpressionLine): (path: string) => boolean {
  let program: ReturnType<typeof compilePattern> | undefined;
  return (path) => {
    if (matches !== undefined && !path.includes('\n')) {
      return matches(path);
    }
    program ??= compilePattern(expression());
    return program.found(path);
  };
}

/** With its last slash; empty for the root. */
function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/') + 1);
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
