import { LineCounter } from 'yaml';
import { shorten } from '../src/common/shorten.ts';
import { type Fault, faultCollector } from '../src/review/policy/faults.ts';
import { readYaml, type YamlPath } from '../src/review/policy/yaml.ts';

/** A value of the file that is translated, and where it stands. */
export interface SourceNode {
  readonly value: unknown;
  /** From 1: that of its key, or of the value itself in a list. */
  readonly line: number;
  /**
   * The entries of a mapping, with those of its merge keys (`<<`), over which its own take precedence. Nothing has
   * none. Anything else is wrong.
   */
  readonly entries: () => readonly (readonly [key: string, node: SourceNode])[];
  /** The items of a list. Nothing has none. Anything else is wrong. */
  readonly items: () => readonly SourceNode[];
  /** It is not what was expected: then nothing is translated. */
  readonly wrong: (expected: string) => void;
}

export type Source =
  | { readonly ok: true; readonly root: SourceNode }
  | { readonly ok: false; readonly faults: readonly Fault[] };

/**
 * Reads a file of unknown origin with the limits of a policy. `file`: its name in faults. `wrong` is called for values
 * that are not what they are asked for.
 */
export function readSource(text: string, file: string, wrong: (line: number, text: string) => void): Source {
  const lines = new LineCounter();
  const faults = faultCollector(file, lines);
  const yaml = readYaml(text, lines, faults);
  const found = faults.all();
  if (yaml === undefined || found.length > 0) {
    return { ok: false, faults: found };
  }
  const nodeAt = (value: unknown, path: YamlPath, line: number): SourceNode =>
    makeNode(value, line, wrong, (key, inner) => {
      const own = [...path, key];
      const at = typeof key === 'number' ? yaml.lineOf(own) : lines.linePos(yaml.keyPositionOf(path, key)).line;
      return nodeAt(inner, own, Math.max(at, 1));
    });
  return { ok: true, root: nodeAt(yaml.value, [], 1) };
}

/** `child` makes the node of what is at a key or an index. */
export function makeNode(
  value: unknown,
  line: number,
  wrong: (line: number, text: string) => void,
  child: (key: string | number, value: unknown) => SourceNode,
): SourceNode {
  const isWrong = (expected: string) => wrong(line, `${shorten(JSON.stringify(value), 80)} is not ${expected}`);
  return {
    ...{ value, line, wrong: isWrong },
    entries() {
      if (!isMapping(value)) {
        if (value !== null) {
          isWrong('a mapping');
        }
        return [];
      }
      const own = Object.entries(value).map(([key, inner]) => [key, child(key, inner)] as const);
      const merged = own.flatMap(([key, inner]) =>
        key !== '<<' ? [] : isMapping(inner.value) ? [inner] : inner.items(),
      );
      const others = own.filter(([key]) => key !== '<<');
      return [...new Map([...merged.toReversed().flatMap((inner) => inner.entries()), ...others])];
    },
    items() {
      if (!Array.isArray(value)) {
        if (value !== null) {
          isWrong('a list');
        }
        return [];
      }
      return value.map((inner, index) => child(index, inner));
    },
  };
}

export function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The node at a key of a mapping. Undefined where there is none. */
export function at(node: SourceNode | undefined, key: string): SourceNode | undefined {
  return node?.entries().find(([name]) => name === key)?.[1];
}

/** The text. Undefined when it is something else, which the caller judges. */
export function textOf(node: SourceNode | undefined): string | undefined {
  return typeof node?.value === 'string' ? node.value : undefined;
}

/** True or false, also in the words of YAML 1.1. Undefined where there is nothing; anything else is wrong. */
export function flagOf(node: SourceNode | undefined): boolean | undefined {
  const { value } = node ?? {};
  if (typeof value === 'boolean' || value === undefined || value === null) {
    return value ?? undefined;
  }
  const word = typeof value === 'string' ? value.toLowerCase() : '';
  if (['yes', 'on', 'y'].includes(word)) {
    return true;
  }
  if (!['no', 'off', 'n'].includes(word)) {
    node?.wrong('true or false');
  }
  return false;
}

/** A whole number from 0. Undefined where there is nothing; anything else is wrong. */
export function wholeOf(node: SourceNode | undefined): number | undefined {
  const { value } = node ?? {};
  if (value === undefined || value === null) {
    return undefined;
  }
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) {
    return value;
  }
  node?.wrong('a whole number');
  return undefined;
}

/** The texts of a list, or one text. Of nothing, none; anything else is wrong. */
export function textsOf(node: SourceNode): readonly string[] {
  if (typeof node.value === 'string') {
    return [node.value];
  }
  if (node.value !== null && !Array.isArray(node.value)) {
    node.wrong('a text or a list of texts');
    return [];
  }
  return node.items().flatMap((item) => {
    const text = textOf(item);
    if (text === undefined) {
      item.wrong('a text');
    }
    return text ?? [];
  });
}
