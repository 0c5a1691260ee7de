/** What may hold slashes at the end of a path: files, and names of branches and tags. */
const TAIL = /\{(?:path|ref|filepath|branch|tag)\}$/;

export interface FoundPath {
  /** As described, with `{name}` for a parameter. */
  readonly path: string;
  readonly parameters: Readonly<Record<string, string>>;
}

/** Finds which of the described paths a path is. The one with the longest fixed text comes first. */
export function makePathFinder(paths: readonly string[]): (path: string) => FoundPath | undefined {
  const known = paths
    .map((path) => {
      const names = [...path.matchAll(/\{([^}]+)\}/g)].map(([, name = '']) => name);
      const source = path
        .replaceAll('.', '\\.')
        .replace(TAIL, '(.+)')
        .replaceAll(/\{[^}]+\}/g, '([^/]+)');
      const fixed = path.replaceAll(/\{[^}]+\}/g, '').length;
      return { path, names, fixed, expression: new RegExp(`^${source}$`) };
    })
    .toSorted((one, other) => other.fixed - one.fixed);
  return (given) => {
    for (const { path, names, expression } of known) {
      const values = expression.exec(given)?.slice(1);
      if (values !== undefined) {
        const parameters = names.map((name, index) => [name, decodeURIComponent(values[index] ?? '')]);
        return { path, parameters: Object.fromEntries(parameters) };
      }
    }
    return undefined;
  };
}
