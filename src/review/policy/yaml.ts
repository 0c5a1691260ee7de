import {
  CST,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  type LineCounter,
  type Node,
  parseDocument,
} from 'yaml';
import {
  MAX_POLICY_ALIASES,
  MAX_POLICY_BYTES,
  MAX_POLICY_CHARACTERS,
  MAX_POLICY_NESTING,
  MAX_POLICY_NODES,
} from '../limits.ts';
import type { FaultCollector } from './faults.ts';

export type YamlPath = readonly (string | number)[];

/** How much a file may ask for. */
export interface YamlLimits {
  readonly bytes: number;
  readonly nodes: number;
  readonly aliases: number;
  readonly characters: number;
}

const POLICY_LIMITS: YamlLimits = {
  bytes: MAX_POLICY_BYTES,
  nodes: MAX_POLICY_NODES,
  aliases: MAX_POLICY_ALIASES,
  characters: MAX_POLICY_CHARACTERS,
};

/** A policy file's YAML as plain values, and where in the text each of them stands. */
export interface PolicyYaml {
  readonly value: unknown;
  /** Offset of the value at a path, or of the nearest thing around it that exists. */
  positionOf(path: YamlPath): number;
  /** Offset of a mapping's key. */
  keyPositionOf(path: YamlPath, key: string): number;
  lineOf(path: YamlPath): number;
}

/** Reads YAML 1.2 of unknown origin. Undefined when there is nothing to go on with; the faults then say why. */
export function readYaml(
  text: string,
  lines: LineCounter,
  faults: FaultCollector,
  limits: YamlLimits = POLICY_LIMITS,
): PolicyYaml | undefined {
  const document = readDocument(text, lines, faults, limits);
  const root: Place = { value: 0, inner: new Map() };
  const plain = document && plainValueOf(document, root, faults, limits);
  if (plain === undefined) {
    return undefined;
  }
  const positionOf = (path: YamlPath): number => {
    let place = root;
    for (const part of path) {
      const inner = place.inner.get(part);
      if (inner === undefined) {
        break;
      }
      place = inner;
    }
    return place.value;
  };
  const keyOf = (path: YamlPath) => path.reduce<Place | undefined>((place, part) => place?.inner.get(part), root)?.key;
  return {
    value: plain.value,
    positionOf,
    keyPositionOf: (path, key) => keyOf([...path, key]) ?? positionOf(path),
    lineOf: (path) => Math.max(lines.linePos(positionOf(path)).line, 1),
  };
}

/** Its aliases are not followed yet. */
function readDocument(
  text: string,
  lines: LineCounter,
  faults: FaultCollector,
  limits: YamlLimits,
): Document.Parsed | undefined {
  const bytes = Buffer.byteLength(text);
  if (bytes > limits.bytes) {
    faults.add(0, {
      message: `the file is too large: ${bytes} bytes of at most ${limits.bytes}`,
      expected: `at most ${limits.bytes} bytes`,
      found: `${bytes} bytes`,
    });
    return undefined;
  }
  const tooDeep = tooDeepAt(text);
  if (tooDeep !== undefined) {
    // The library's parser calls itself for each level, so it is not given the text, and does not find the lines.
    lines.addNewLine(0);
    for (const { index } of text.matchAll(/\n/g)) {
      lines.addNewLine(index + 1);
    }
    faults.add(tooDeep, { message: TOO_DEEP });
    return undefined;
  }
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    stringKeys: true,
    resolveKnownTags: false,
    // Its own check compares each key with every other one; ours is in plainValueOf.
    uniqueKeys: false,
    logLevel: 'error',
  });
  // Warnings are about unknown tags (`!thing`), which a policy does not use.
  const problems = [...document.errors, ...document.warnings];
  for (const { pos, message } of problems) {
    faults.add(pos[0], { message: `not valid YAML: ${message}` });
  }
  if (problems.length > 0) {
    return undefined;
  }
  if (document.contents === null) {
    faults.add(0, { message: 'the file is empty', expected: 'a mapping with `version` and `rules`', found: 'nothing' });
    return undefined;
  }
  return document;
}

/**
 * The document as plain values; where each of them stands is put into `root`. Undefined when a limit is exceeded.
 *
 * Aliases are followed here and not by the library, so that their content is counted as often as it is used:
 * nine lines of YAML can expand to a billion values.
 */
function plainValueOf(
  document: Document.Parsed,
  root: Place,
  faults: FaultCollector,
  limits: YamlLimits,
): { readonly value: unknown } | undefined {
  const budget = { ...limits };
  const stopped = new Stop();
  try {
    return { value: plainValue(document.contents, root, 0) };
  } catch (error) {
    if (error === stopped) {
      return undefined;
    }
    throw error;
  }

  function stop(offset: number, message: string): never {
    faults.add(offset, { message });
    throw stopped;
  }

  /** Keys, and what aliases stand for, are counted as often as they are used. */
  function spend(text: unknown, offset: number): void {
    budget.nodes -= 1;
    if (budget.nodes < 0) {
      stop(offset, `the file expands to more than ${limits.nodes} keys and values`);
    }
    budget.characters -= typeof text === 'string' ? text.length : 0;
    if (budget.characters < 0) {
      stop(offset, `with its aliases written out the file has more than ${limits.characters} characters`);
    }
  }

  function plainValue(node: unknown, place: Place, depth: number, from?: number): unknown {
    if (!isNode(node)) {
      return null;
    }
    // The content of an alias is reported where the alias is used.
    const offset = from ?? node.range?.[0] ?? 0;
    place.value = offset;
    spend(isScalar(node) ? node.value : undefined, offset);
    if (depth > MAX_POLICY_NESTING) {
      stop(offset, TOO_DEEP);
    }
    if (isAlias(node)) {
      budget.aliases -= 1;
      if (budget.aliases < 0) {
        stop(offset, `more than ${limits.aliases} uses of aliases`);
      }
      return plainValue(node.resolve(document), place, depth, offset);
    }
    if (isScalar(node)) {
      return typeof node.value === 'bigint' ? Number(node.value) : node.value;
    }
    if (isSeq(node)) {
      return node.items.map((item, index) => plainValue(item, placeIn(place, index, offset), depth + 1, from));
    }
    if (!isMap(node)) {
      return null;
    }
    const entries = new Map<string, unknown>();
    for (const pair of node.items) {
      const key = isScalar(pair.key) ? String(pair.key.value) : '';
      const keyOffset = from ?? (isScalar(pair.key) ? pair.key.range?.[0] : undefined) ?? offset;
      if (entries.has(key)) {
        faults.add(keyOffset, { message: `the key "${key}" is given twice`, found: key });
      }
      spend(key, keyOffset);
      const inner = placeIn(place, key, keyOffset);
      inner.key = keyOffset;
      entries.set(key, plainValue(pair.value, inner, depth + 1, from));
    }
    return Object.fromEntries(entries);
  }
}

/** Where something stands in the text. A tree, since a path of long keys would be repeated for all that is below it. */
interface Place {
  value: number;
  key?: number;
  readonly inner: Map<string | number, Place>;
}

/** The place of what is inside another, at `offset` unless it has one of its own. */
function placeIn(outer: Place, part: string | number, offset: number): Place {
  const place: Place = { value: offset, inner: new Map() };
  outer.inner.set(part, place);
  return place;
}

class Stop extends Error {
  override readonly name = 'Stop';
}

function isNode(value: unknown): value is Node {
  return isAlias(value) || isScalar(value) || isSeq(value) || isMap(value);
}

const TOO_DEEP = `nested deeper than ${MAX_POLICY_NESTING} levels`;

/**
 * Where brackets, or the indicators of one line, nest deeper than is allowed; indentation alone cannot go far in 64
 * KiB.
 */
function tooDeepAt(text: string): number | undefined {
  let offset = 0;
  let brackets = 0;
  let indicators = 0;
  for (const token of new Lexer().lex(text)) {
    switch (CST.tokenType(token)) {
      case 'doc-mode':
      case 'flow-error-end':
      case 'scalar':
        // Marks of the lexer, which are not in the text.
        continue;
      case 'flow-map-start':
      case 'flow-seq-start':
        brackets += 1;
        break;
      case 'flow-map-end':
      case 'flow-seq-end':
        brackets -= 1;
        break;
      case 'seq-item-ind':
      case 'explicit-key-ind':
        indicators += 1;
        break;
      case 'newline':
        indicators = 0;
        break;
    }
    if (brackets + indicators > MAX_POLICY_NESTING) {
      return offset;
    }
    offset += token.length;
  }
  return undefined;
}
