import { MAX_GLOB_LENGTH, MAX_NAME_LENGTH } from '../src/review/limits.ts';
import { type Piece, parseRegex } from './regex.ts';

/** What a regular expression of a path, a branch or a name is as globs, or as names. */
export interface Matchers {
  /** Match only what the expression matches. */
  readonly least: readonly string[];
  /** Match all that it matches. The same as `least` if `exact`. */
  readonly most: readonly string[];
  readonly exact: boolean;
}

type Side = 'least' | 'most';

const ANYTHING: Piece = { kind: 'repeat', piece: { kind: 'any' }, least: 0, most: Number.POSITIVE_INFINITY };

/** How often a piece is written that may be repeated without end, where nothing more may match than it does. */
const OPTIONAL_REPEATS = 6;
/** How many names one expression may become. */
const MAX_NAMES = 50;
/** Repetitions that are spelt out in names. */
const MAX_SPELT = 3;

/**
 * As globs of paths or branches, of which no part between two slashes is empty. Undefined if the expression cannot be
 * read.
 */
export function globsOf(source: string, given: { readonly ignoreCase?: boolean } = {}): Matchers | undefined {
  const regex = parseRegex(source);
  if (regex === undefined) {
    return undefined;
  }
  const ignoreCase = regex.ignoreCase || given.ignoreCase === true;
  const side = (which: Side) => {
    let exact = true;
    const writer: Writer = { side: which, ignoreCase, inexact: () => (exact = false) };
    const globs = regex.branches.flatMap(({ start, end, pieces }) => {
      const whole = [...(start ? [] : [ANYTHING]), ...pieces, ...(end ? [] : [ANYTHING])].filter(
        (piece, index, around) => !(isAnyText(piece) && isAnyText(around[index - 1])),
      );
      return write(whole, true, writer) ?? [];
    });
    return { globs: [...new Set(globs.map((glob) => glob.replace(/^!/, '\\!')))], exact };
  };
  const [least, most] = [side('least'), side('most')];
  return { least: least.globs, most: most.globs, exact: least.exact && most.exact };
}

interface Writer {
  readonly side: Side;
  readonly ignoreCase: boolean;
  readonly inexact: () => void;
}

/** `whole`: nothing is before or after these pieces. Undefined: no glob that matches only what they match. */
function write(pieces: readonly Piece[], whole: boolean, writer: Writer): string | undefined {
  let glob = '';
  for (const [index, piece] of pieces.entries()) {
    const text = isAnything(piece)
      ? anything(piece.least, placeOf(glob, pieces, index, whole))
      : writeOne(piece, whole && glob === '', writer);
    if (text === undefined) {
      return undefined;
    }
    // Two stars beside each other would be folders.
    glob += /(?<!\\)\*$/.test(glob) && text.startsWith('*') ? text.replace(/^\*+/, '') : text;
  }
  return glob;
}

type Repeat = Extract<Piece, { readonly kind: 'repeat' }>;

function isAnything(piece: Piece): piece is Repeat {
  return (
    piece.kind === 'repeat' && piece.piece.kind === 'any' && piece.most === Number.POSITIVE_INFINITY && piece.least <= 1
  );
}

/** `.*` */
function isAnyText(piece: Piece | undefined): boolean {
  return piece !== undefined && isAnything(piece) && piece.least === 0;
}

interface Place {
  /** Whether it begins a part of the path. */
  readonly begins: boolean;
  readonly next: 'end' | 'slash' | 'character' | 'unknown';
}

function placeOf(glob: string, pieces: readonly Piece[], index: number, whole: boolean): Place {
  const next = pieces[index + 1];
  const begins = glob === '' ? whole : glob.endsWith('/');
  if (next === undefined) {
    return { begins, next: whole ? 'end' : 'unknown' };
  }
  if (next.kind !== 'character') {
    return { begins, next: 'unknown' };
  }
  return { begins, next: next.value === '/' ? 'slash' : 'character' };
}

/** `.*`, or with `least` 1 `.+`. In braces `**` is any text that is not empty. */
function anything(least: number, { begins, next }: Place): string {
  if (begins && next === 'end') {
    return '**';
  }
  if (begins && next === 'slash') {
    return '*/**';
  }
  if (begins && next === 'character' && least === 0) {
    return '**/*';
  }
  return least === 0 ? '{**,}' : '{**,?}';
}

function writeOne(piece: Piece, first: boolean, writer: Writer): string | undefined {
  switch (piece.kind) {
    case 'character':
      return literal(piece.value, writer.ignoreCase);
    case 'any':
      // No path begins with a slash.
      return first ? '?' : '{?,/}';
    case 'set':
      return writeSet(piece, writer.ignoreCase);
    case 'group': {
      const written = piece.alternatives.flatMap((pieces) => write(pieces, false, writer) ?? []);
      return written.length > 1 ? `{${written.join(',')}}` : written[0];
    }
    case 'repeat':
      return writeRepeat(piece, writer);
  }
}

function writeRepeat({ piece, least, most }: Repeat, writer: Writer): string | undefined {
  const once = writeOne(piece, false, writer);
  if (once === undefined) {
    return least === 0 ? '' : undefined;
  }
  if (most === Number.POSITIVE_INFINITY && once === '?') {
    return `${'?'.repeat(least)}*`;
  }
  const isEndless = most === Number.POSITIVE_INFINITY;
  const optional = isEndless ? OPTIONAL_REPEATS : Math.max(0, most - least);
  // A repetition of a repetition may be of any length.
  const isLong = once.length * (least + optional) > MAX_GLOB_LENGTH;
  if (!isEndless && !isLong) {
    return `${once.repeat(least)}${`{${once},}`.repeat(optional)}`;
  }
  writer.inexact();
  if (writer.side === 'most') {
    return `${isLong ? '' : once.repeat(least)}${mayBeSlash(piece) ? '{**,}' : '*'}`;
  }
  return isLong ? undefined : `${once.repeat(least)}${`{${once},}`.repeat(optional)}`;
}

function mayBeSlash(piece: Piece): boolean {
  switch (piece.kind) {
    case 'character':
      return piece.value === '/';
    case 'any':
      return true;
    case 'set':
      return piece.ranges.some(([from, to]) => from <= '/' && '/' <= to) !== piece.negated;
    case 'group':
      return piece.alternatives.some((pieces) => pieces.some(mayBeSlash));
    case 'repeat':
      return mayBeSlash(piece.piece);
  }
}

function literal(character: string, ignoreCase: boolean): string {
  const [lower, upper] = [character.toLowerCase(), character.toUpperCase()];
  if (ignoreCase && lower !== upper && /^[A-Za-z]$/.test(character)) {
    return `[${lower}${upper}]`;
  }
  return /^[*?[\]{},\\(]$/.test(character) ? `\\${character}` : character;
}

type CharacterSet = Extract<Piece, { readonly kind: 'set' }>;

/** In a glob no set matches a slash. */
function writeSet(set: CharacterSet, ignoreCase: boolean): string {
  const { negated, ranges } = set;
  const others = ranges.filter(([from]) => from !== '/');
  const cased = ignoreCase ? others.flatMap(inBothCases) : others;
  // A "-" stands last, where it is no range.
  const members = cased
    .map(([from, to]) => (from === to ? from : `${from}-${to}`))
    .sort((a, b) => Number(a === '-') - Number(b === '-'));
  const written = members.length === 0 ? (negated ? '?' : '') : `[${negated ? '!' : ''}${members.join('')}]`;
  if (!mayBeSlash(set)) {
    return written;
  }
  return written === '' ? '/' : `{${written},/}`;
}

function inBothCases(range: readonly [string, string]): readonly (readonly [string, string])[] {
  const lower = [range[0].toLowerCase(), range[1].toLowerCase()] as const;
  const upper = [range[0].toUpperCase(), range[1].toUpperCase()] as const;
  return /^[A-Za-z]$/.test(range[0]) && /^[A-Za-z]$/.test(range[1]) ? [lower, upper] : [range];
}

/**
 * As names, of labels or logins, which are compared without case, and in which only `*` has a meaning. Undefined if the
 * expression cannot be read.
 */
export function namesOf(source: string): Matchers | undefined {
  const regex = parseRegex(source);
  if (regex === undefined) {
    return undefined;
  }
  const side = (which: Side) => {
    let exact = true;
    const writer: Writer = { side: which, ignoreCase: true, inexact: () => (exact = false) };
    const names = regex.branches.flatMap(({ start, end, pieces }) =>
      spell(pieces, writer).map((name) => `${start ? '' : '*'}${name}${end ? '' : '*'}`.replace(/\*+/g, '*')),
    );
    const own = [...new Map(names.map((name) => [name.toLowerCase(), name])).values()].filter((name) => name !== '');
    return { names: own, exact };
  };
  const [least, most] = [side('least'), side('most')];
  if (least.names.length > MAX_NAMES || most.names.length > MAX_NAMES) {
    return undefined;
  }
  return { least: least.names, most: most.names, exact: least.exact && most.exact };
}

/** All texts of pieces. */
function spell(pieces: readonly Piece[], writer: Writer): readonly string[] {
  return pieces.reduce<readonly string[]>(
    (before, piece) =>
      before.flatMap((start) => spellOne(piece, writer).map((end) => `${start}${end}`)).slice(0, MAX_NAMES + 1),
    [''],
  );
}

function spellOne(piece: Piece, writer: Writer): readonly string[] {
  const inexact = (least: readonly string[]) => {
    writer.inexact();
    return writer.side === 'least' ? least : ['*'];
  };
  switch (piece.kind) {
    case 'character':
      return piece.value === '*' ? inexact([]) : [piece.value];
    case 'any':
      return inexact(['.']);
    case 'set': {
      const members = piece.ranges.map(([from, to]) => (from === to ? from : ''));
      return piece.negated || members.includes('') ? inexact([]) : members;
    }
    case 'group':
      return piece.alternatives.flatMap((alternative) => spell(alternative, writer));
    case 'repeat':
      return spellRepeat(piece, writer, inexact);
  }
}

function spellRepeat(
  piece: Repeat,
  writer: Writer,
  inexact: (least: readonly string[]) => readonly string[],
): readonly string[] {
  if (isAnything(piece) && piece.least === 0) {
    return ['*'];
  }
  const { piece: inner, least, most } = piece;
  const once = spellOne(inner, writer);
  const longest = Math.max(0, ...once.map((text) => text.length));
  if (most > MAX_SPELT || longest * Math.max(least, 1) > MAX_NAME_LENGTH) {
    return inexact([]);
  }
  return Array.from({ length: most - least + 1 }, (_, index) => times(once, least + index)).flat();
}

/** All texts of so many of these, one after the other. */
function times(texts: readonly string[], count: number): readonly string[] {
  return Array.from({ length: count }).reduce<readonly string[]>(
    (before) => before.flatMap((start) => texts.map((end) => `${start}${end}`)).slice(0, MAX_NAMES + 1),
    [''],
  );
}
