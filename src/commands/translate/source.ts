import { LineCounter } from 'yaml';
import { type Fault, faultCollector } from '../../review/policy/faults.ts';
import { readYaml, type YamlPath } from '../../review/policy/yaml.ts';

/** A value of the file that is translated, and where it stands. */
export interface SourceNode {
  readonly value: unknown;
  /** From 1: that of its key, or of the value itself in a list. */
  readonly line: number;
  /** Of a mapping, with those of its merge keys (`<<`), which its own take precedence over. Otherwise empty. */
  readonly entries: () => readonly (readonly [key: string, node: SourceNode])[];
  /** Of a list. Otherwise empty. */
  readonly items: () => readonly SourceNode[];
}

export type Source =
  | { readonly ok: true; readonly root: SourceNode }
  | { readonly ok: false; readonly faults: readonly Fault[] };

/** Reads a file of unknown origin with the limits of a policy. `file`: its name in faults. */
export function readSource(text: string, file: string): Source {
  const lines = new LineCounter();
  const faults = faultCollector(file, lines);
  const yaml = readYaml(text, lines, faults);
  const found = faults.all();
  if (yaml === undefined || found.length > 0) {
    return { ok: false, faults: found };
  }
  const node = (value: unknown, path: YamlPath, line: number): SourceNode => ({
    value,
    line,
    entries: () => entriesOf(value, path),
    items: () =>
      Array.isArray(value)
        ? value.map((item, index) => node(item, [...path, index], yaml.lineOf([...path, index])))
        : [],
  });
  const entriesOf = (value: unknown, path: YamlPath): readonly (readonly [string, SourceNode])[] => {
    const own = isMapping(value)
      ? Object.entries(value).map(([key, inner]) => {
          const { line } = lines.linePos(yaml.keyPositionOf(path, key));
          return [key, node(inner, [...path, key], Math.max(line, 1))] as const;
        })
      : [];
    const merged = own.flatMap(([key, inner]) => (key === '<<' ? [inner, ...inner.items()] : []));
    const all = new Map(merged.toReversed().flatMap((inner) => inner.entries()));
    for (const [key, inner] of own) {
      if (key !== '<<' || merged.every(({ value: from }) => !isMapping(from))) {
        all.set(key, inner);
      }
    }
    return [...all];
  };
  return { ok: true, root: node(yaml.value, [], 1) };
}

export function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The node at a key. */
export function at(node: SourceNode | undefined, key: string): SourceNode | undefined {
  return node?.entries().find(([name]) => name === key)?.[1];
}

/** The text; undefined when it is something else. */
export function textOf(node: SourceNode | undefined): string | undefined {
  return typeof node?.value === 'string' ? node.value : undefined;
}

/** True or false, also in the words of YAML 1.1; undefined when it is something else. */
export function flagOf(node: SourceNode | undefined): boolean | undefined {
  const { value } = node ?? {};
  if (typeof value === 'boolean') {
    return value;
  }
  const word = typeof value === 'string' ? value.toLowerCase() : '';
  return ['yes', 'on', 'y'].includes(word) ? true : ['no', 'off', 'n'].includes(word) ? false : undefined;
}

/** A whole number from 0; undefined when it is something else. */
export function wholeOf(node: SourceNode | undefined): number | undefined {
  const { value } = node ?? {};
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

/** The texts of a list, or of one text; undefined when there is anything else in it. */
export function textsOf(node: SourceNode | undefined): readonly string[] | undefined {
  const one = textOf(node);
  if (one !== undefined) {
    return [one];
  }
  const texts = Array.isArray(node?.value) ? node.items().flatMap((item) => textOf(item) ?? []) : undefined;
  return texts?.length === node?.items().length ? texts : undefined;
}
