import { MAX_PATTERN_LENGTH } from '../src/review/limits.ts';

/** A part of a regular expression. A range has two characters, which may be the same. */
export type Piece =
  | { readonly kind: 'character'; readonly value: string }
  | { readonly kind: 'any' }
  | { readonly kind: 'set'; readonly negated: boolean; readonly ranges: readonly (readonly [string, string])[] }
  | { readonly kind: 'group'; readonly alternatives: readonly (readonly Piece[])[] }
  | { readonly kind: 'repeat'; readonly piece: Piece; readonly least: number; readonly most: number };

/** One of the alternatives of a whole expression, and whether it is anchored. */
interface Branch {
  readonly start: boolean;
  readonly end: boolean;
  readonly pieces: readonly Piece[];
}

export interface Regex {
  readonly ignoreCase: boolean;
  readonly branches: readonly Branch[];
}

const CLASSES: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  d: [['0', '9']],
  w: [
    ['A', 'Z'],
    ['a', 'z'],
    ['0', '9'],
    ['_', '_'],
  ],
};

class Unread extends Error {
  override readonly name = 'Unread';
}

/**
 * Reads the part of the syntax that RE2 and JavaScript have in common, and that a glob or a name may be made of.
 * Undefined when there is anything else in it, such as a lookahead or an anchor in the middle.
 */
export function parseRegex(source: string): Regex | undefined {
  if (source.length > MAX_PATTERN_LENGTH) {
    return undefined;
  }
  const ignoreCase = source.startsWith('(?i)');
  try {
    const text = ignoreCase ? source.slice('(?i)'.length) : source;
    return { ignoreCase, branches: branchesOf(text) };
  } catch (error) {
    if (error instanceof Unread) {
      return undefined;
    }
    throw error;
  }
}

function branchesOf(text: string): readonly Branch[] {
  const alternatives = splitAlternatives(text).map((alternative) => {
    const start = alternative.startsWith('^');
    const end = /(?<!\\)(?:\\\\)*\$$/.test(alternative);
    const inner = alternative.slice(start ? 1 : 0, end ? -1 : undefined);
    return { start, end, pieces: piecesOf(inner) };
  });
  return alternatives.flatMap((branch) => {
    const [only] = branch.pieces;
    // `^(a|b)$` is two branches, which read better than one with braces.
    return branch.pieces.length === 1 && only?.kind === 'group'
      ? only.alternatives.map((pieces) => ({ ...branch, pieces }))
      : [branch];
  });
}

/** At the `|` outside of groups and sets. */
function splitAlternatives(text: string): readonly string[] {
  const parts = [''];
  let depth = 0;
  for (const [token] of text.matchAll(/\\[\s\S]|\[\^?\]?(?:\\[\s\S]|[^\]\\])*\]|[\s\S]/g)) {
    depth += token === '(' ? 1 : token === ')' ? -1 : 0;
    if (token === '|' && depth === 0) {
      parts.push('');
    } else {
      parts[parts.length - 1] += token;
    }
  }
  return parts;
}

/** A group may not hold anchors. */
function piecesOf(text: string): readonly Piece[] {
  const pieces: Piece[] = [];
  let index = 0;
  while (index < text.length) {
    const { piece, length } = pieceAt(text, index);
    index += length;
    const quantifier = /^(?:[*+?]|\{\d{1,2}(?:,\d{0,2})?\})/.exec(text.slice(index))?.[0] ?? '';
    index += quantifier.length;
    if (quantifier !== '' && /^[?+*{]/.test(text.slice(index)) && text[index] !== '?') {
      throw new Unread('a quantifier of a quantifier');
    }
    // Greedy or not, the same texts match.
    index += quantifier !== '' && text[index] === '?' ? 1 : 0;
    pieces.push(quantifier === '' ? piece : repeated(piece, quantifier));
  }
  return pieces;
}

function repeated(piece: Piece, quantifier: string): Piece {
  const [, from, comma, to] = /^\{(\d+)(,?)(\d*)\}$/.exec(quantifier) ?? [];
  if (from !== undefined) {
    const least = Number(from);
    const most = comma === '' ? least : to === '' ? Number.POSITIVE_INFINITY : Number(to);
    return { kind: 'repeat', piece, least, most };
  }
  return {
    ...{ kind: 'repeat', piece },
    least: quantifier === '+' ? 1 : 0,
    most: quantifier === '?' ? 1 : Number.POSITIVE_INFINITY,
  };
}

function pieceAt(text: string, index: number): { readonly piece: Piece; readonly length: number } {
  const rest = text.slice(index);
  const character = String.fromCodePoint(text.codePointAt(index) ?? 0);
  switch (character) {
    case '\\':
      return { piece: escaped(rest[1] ?? ''), length: 2 };
    case '.':
      return { piece: { kind: 'any' }, length: 1 };
    case '[':
      return setAt(rest);
    case '(':
      return groupAt(rest);
    case '^':
    case '$':
    case ')':
    case '*':
    case '+':
    case '?':
    case '{':
    case '|':
      throw new Unread(character);
    default:
      return { piece: { kind: 'character', value: character }, length: character.length };
  }
}

function escaped(character: string): Piece {
  const ranges = CLASSES[character];
  if (ranges !== undefined) {
    return { kind: 'set', negated: false, ranges };
  }
  if (character === '' || /[A-Za-z0-9]/.test(character) || character > '~') {
    throw new Unread(`\\${character}`);
  }
  return { kind: 'character', value: character };
}

/** A set of letters, digits and plain punctuation: anything else in a set has another meaning in a glob. */
function setAt(rest: string): { readonly piece: Piece; readonly length: number } {
  const [whole, negation, members] = /^\[(\^?)((?:\\[dw./-]|[^\]\\[])+)\]/.exec(rest) ?? [];
  if (whole === undefined || members === undefined) {
    throw new Unread('a set');
  }
  const ranges: (readonly [string, string])[] = [];
  for (const [token, from, to] of members.matchAll(/([A-Za-z0-9])-([A-Za-z0-9])|\\[\s\S]|[\s\S]/g)) {
    if (from !== undefined && to !== undefined) {
      if (from > to) {
        throw new Unread(token);
      }
      ranges.push([from, to]);
    } else if (/^\\[dw]$/.test(token)) {
      ranges.push(...(CLASSES[token.slice(1)] ?? []));
    } else {
      const member = token.length > 1 ? token.slice(1) : token;
      if (!/^[A-Za-z0-9 _./#@:=~-]$/.test(member)) {
        throw new Unread(token);
      }
      ranges.push([member, member]);
    }
  }
  return { piece: { kind: 'set', negated: negation === '^', ranges }, length: whole.length };
}

function groupAt(rest: string): { readonly piece: Piece; readonly length: number } {
  let depth = 0;
  for (const { 0: token, index } of rest.matchAll(/\\[\s\S]|\[\^?\]?(?:\\[\s\S]|[^\]\\])*\]|[\s\S]/g)) {
    depth += token === '(' ? 1 : token === ')' ? -1 : 0;
    if (depth === 0) {
      const inner = rest.slice(1, index);
      if (inner.startsWith('?') && !inner.startsWith('?:')) {
        throw new Unread('a group of another kind');
      }
      const body = inner.startsWith('?:') ? inner.slice(2) : inner;
      const alternatives = splitAlternatives(body).map(piecesOf);
      return { piece: { kind: 'group', alternatives }, length: index + 1 };
    }
  }
  throw new Unread('a group that is not closed');
}
