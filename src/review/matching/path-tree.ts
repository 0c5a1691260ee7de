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
  names: Map<string, Node> | undefined;
  wild: Map<string, { readonly matches: (name: string) => boolean; readonly node: Node }> | undefined;
  /** Where `**` leads, also with no segment. */
  deep: Node | undefined;
  /** Lines for the paths that end here, and for those that go on. */
  itself: number[] | undefined;
  below: number[] | undefined;
}

function makeNode(isDeep = false): Node {
  return { isDeep, names: undefined, wild: undefined, deep: undefined, itself: undefined, below: undefined };
}

/** The nodes that a folder leads to, and the lines for all paths below it. */
interface Level {
  readonly nodes: ReadonlySet<Node>;
  readonly lines: readonly number[];
}

interface PathTree {
  /**
   * The last line that matches counts. Where that does not settle who owns a path, the one before counts too. Lines come
   * in their order.
   */
  add(pattern: PathPattern, line: number, settles: boolean): void;
  /** The lines that count for each path, the last first. */
  matching(paths: readonly string[]): readonly (readonly number[])[];
}

/** Patterns by their segments, so that a path is compared only with those that begin as it does. */
export function makePathTree(wildcard: typeof makeWildcard = makeWildcard): PathTree {
  const root = makeNode();
  const settling = new Set<number>();

  function child(parent: Node, segment: string): Node {
    if (segment === DEEP) {
      parent.deep ??= parent.isDeep ? parent : makeNode(true);
      return parent.deep;
    }
    const tokens = tokensOf(segment);
    if (tokens.every((token) => typeof token === 'string')) {
      const name = tokens.join('');
      const node = parent.names?.get(name) ?? makeNode();
      parent.names = (parent.names ?? new Map()).set(name, node);
      return node;
    }
    const wild = parent.wild?.get(segment) ?? { matches: wildcard(tokens), node: makeNode() };
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
          const before = settles ? undefined : node[where];
          node[where] = before ?? [];
          node[where].push(line);
        }
      }
      if (settles) {
        settling.add(line);
      }
    },
    matching(paths) {
      const step = makeStep();
      const levels = new Map([['', levelOf(enter(root, new Set()), [])]]);
      const levelAt = (folder: string): Level => {
        const known = levels.get(folder);
        if (known !== undefined) {
          return known;
        }
        const [parent, name] = splitLast(folder.slice(0, -1));
        const { nodes, lines } = levelAt(parent);
        const level = levelOf(step(nodes, name), lines);
        levels.set(folder, level);
        return level;
      };
      return paths.map((path) => {
        const [folder, name] = splitLast(path);
        const { nodes, lines } = levelAt(folder);
        return last([...lines, ...[...step(nodes, name)].flatMap(({ itself = [] }) => itself)]);
      });
    },
  };
}

/** The folder with its slash, and the name in it. */
function splitLast(path: string): readonly [string, string] {
  const end = path.lastIndexOf('/') + 1;
  return [path.slice(0, end), path.slice(end)];
}

function enter(node: Node, nodes: Set<Node>): Set<Node> {
  nodes.add(node);
  return node.deep === undefined ? nodes : nodes.add(node.deep);
}

/** From nodes over a name to the next ones. Names come again in many folders, and are compared with wildcards once. */
function makeStep(): (nodes: ReadonlySet<Node>, name: string) => ReadonlySet<Node> {
  const compared = new Map<Node, Map<string, readonly Node[]>>();

  function wildFrom(node: Node, name: string): readonly Node[] {
    if (node.wild === undefined) {
      return NONE;
    }
    const known = compared.get(node) ?? new Map<string, readonly Node[]>();
    compared.set(node, known);
    const matching =
      known.get(name) ?? [...node.wild.values()].flatMap((wild) => (wild.matches(name) ? wild.node : NONE));
    known.set(name, matching.length === 0 ? NONE : matching);
    return matching;
  }

  return (nodes, name) => {
    const next = new Set<Node>();
    for (const node of nodes) {
      if (node.isDeep) {
        next.add(node);
      }
      const named = node.names?.get(name);
      for (const into of named === undefined ? wildFrom(node, name) : [named, ...wildFrom(node, name)]) {
        enter(into, next);
      }
    }
    return next;
  };
}

const NONE: readonly Node[] = [];
