import { ANY, makeWildcard, ONE, type Token } from './wildcard.ts';

/** Which paths a pattern is for: what it names, what is below that, or both. */
export interface PathPattern {
  readonly segments: readonly string[];
  readonly itself: boolean;
  readonly below: boolean;
}

/** Any number of segments. */
const DEEP = '**';

/** Patterns much as in .gitignore. Undefined for one that names nothing, or ends in a backslash. */
export function parsePathPattern(written: string): PathPattern | undefined {
  const names = written.split('/').filter((name) => name !== '');
  const last = names.at(-1);
  if (last === undefined || /(?<!\\)(?:\\\\)*\\$/.test(written)) {
    return undefined;
  }
  const anchored = /\/./.test(written);
  const segments = anchored ? names : [DEEP, ...names];
  if (last === DEEP) {
    return { segments: segments.slice(0, -1), itself: false, below: true };
  }
  const itself = !written.endsWith('/');
  // `docs/*` is the files in docs, but a name is the file or everything in the folder of that name.
  return { segments, itself, below: !(itself && anchored && last === '*') };
}

/** A backslash takes the next character as it is. */
function tokensOf(segment: string): readonly Token[] {
  const tokens: Token[] = [];
  for (const [token, escaped] of segment.matchAll(/\\(.)|\\$|[\s\S]/gsu)) {
    if (token === '*') {
      tokens.push(ANY);
    } else if (token === '?') {
      tokens.push(ONE);
    } else if (token !== '\\') {
      tokens.push(escaped ?? token);
    }
  }
  return tokens;
}

interface Node {
  readonly isDeep: boolean;
  names?: Map<string, Node>;
  wild?: Map<string, { readonly matches: (name: string) => boolean; readonly node: Node }>;
  /** Where `**` leads, also with no segment. */
  deep?: Node;
  /** Lines for the paths that end here, and for those that go on. */
  itself?: number[];
  below?: number[];
}

/** After some of a path's segments: the nodes that they lead to, and the lines for all paths that go on from there. */
interface Level {
  readonly nodes: ReadonlySet<Node>;
  readonly lines: readonly number[];
}

interface PathTree {
  /** `settles`: no line before matters where this one matches. Lines come in their order. */
  add(pattern: PathPattern, line: number, settles: boolean): void;
  /** The last line that settles, and those after it; the last first. */
  lastMatching(path: string): readonly number[];
}

/** Patterns by their segments: a path is compared with those alone that begin as it does. */
export function makePathTree(wildcard: typeof makeWildcard = makeWildcard): PathTree {
  const root: Node = { isDeep: false };
  const settling = new Set<number>();
  /** Of the last path, since lists of files are sorted: the next one begins much the same. */
  let walked: { readonly segments: readonly string[]; readonly levels: Level[] } = { segments: [], levels: [] };

  function child(parent: Node, segment: string): Node {
    if (segment === DEEP) {
      parent.deep ??= parent.isDeep ? parent : { isDeep: true };
      return parent.deep;
    }
    const tokens = tokensOf(segment);
    if (tokens.every((token) => typeof token === 'string')) {
      const name = tokens.join('');
      const node = parent.names?.get(name) ?? { isDeep: false };
      parent.names = (parent.names ?? new Map()).set(name, node);
      return node;
    }
    const wild = parent.wild?.get(segment) ?? { matches: wildcard(tokens), node: { isDeep: false } };
    parent.wild = (parent.wild ?? new Map()).set(segment, wild);
    return wild.node;
  }

  function last(lines: readonly number[]): readonly number[] {
    const sorted = [...new Set(lines)].sort((one, other) => other - one);
    const end = sorted.findIndex((line) => settling.has(line));
    return end === -1 ? sorted : sorted.slice(0, end + 1);
  }

  function levelOf(nodes: ReadonlySet<Node>, before: readonly number[]): Level {
    const below = [...nodes].flatMap((node) => node.below ?? []);
    return { nodes, lines: below.length === 0 ? before : last([...before, ...below]) };
  }

  return {
    add({ segments, itself, below }, line, settles) {
      const node = segments.reduce(child, root);
      for (const where of ['itself', 'below'] as const) {
        if (where === 'itself' ? itself : below) {
          node[where] = settles ? [] : (node[where] ?? []);
          node[where].push(line);
        }
      }
      if (settles) {
        settling.add(line);
      }
    },
    lastMatching(path) {
      const segments = path.split('/');
      const name = segments.pop() ?? '';
      const differs = segments.findIndex((segment, index) => segment !== walked.segments[index]);
      const levels = walked.levels.slice(0, (differs === -1 ? segments.length : differs) + 1);
      if (levels.length === 0) {
        levels.push(levelOf(enter(root, new Set()), []));
      }
      for (let level = levels.at(-1); level !== undefined && levels.length <= segments.length; level = levels.at(-1)) {
        levels.push(levelOf(step(level.nodes, segments[levels.length - 1] ?? ''), level.lines));
      }
      walked = { segments, levels };
      const { nodes, lines } = levels.at(-1) ?? { nodes: new Set<Node>(), lines: [] };
      return last([...lines, ...[...step(nodes, name)].flatMap(({ itself }) => itself ?? [])]);
    },
  };
}

function enter(node: Node, nodes: Set<Node>): Set<Node> {
  nodes.add(node);
  return node.deep === undefined ? nodes : nodes.add(node.deep);
}

function step(nodes: ReadonlySet<Node>, name: string): ReadonlySet<Node> {
  const next = new Set<Node>();
  for (const node of nodes) {
    if (node.isDeep) {
      next.add(node);
    }
    const named = node.names?.get(name);
    if (named !== undefined) {
      enter(named, next);
    }
    for (const { matches, node: into } of node.wild?.values() ?? []) {
      if (matches(name)) {
        enter(into, next);
      }
    }
  }
  return next;
}
