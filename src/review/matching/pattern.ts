import { LRUCache } from 'lru-cache';
import { RE2JS, RE2JSSyntaxException } from 're2js';
import { MAX_PATTERN_LENGTH, MAX_PATTERN_SIZE } from '../limits.ts';

/** Bytes of automaton that one pattern may keep. re2js alone would keep 32 times as many, for each pattern. */
const MAX_AUTOMATON_BYTES = 256 * 1024;
/** Programs that are kept: with their automata at most 64 MiB. */
const MAX_KEPT_PROGRAMS = 256;

/** What re2js shows of the automaton that it builds while it matches; null until it needs one. */
type Automaton = Pick<ReturnType<RE2JS['re2']>['lazyDFA'], 'memBudget' | 'maxMem' | 'clearCache'>;

/** A regular expression that runs in linear time. */
export interface Pattern {
  /** Anywhere in the text. */
  found(text: string): boolean;
  /** The whole text. */
  matches(text: string): boolean;
}

/** Compiles an expression that {@link patternFault} had nothing against, or that we wrote ourselves. */
export function compilePattern(source: string): Pattern {
  const compiled = compileOnce(source);
  if ('fault' in compiled) {
    throw new Error(`a pattern that should have been refused: ${compiled.fault}`);
  }
  const { program } = compiled;
  return {
    found: (text) => trimmed(program, program.test(text)),
    matches: (text) => trimmed(program, program.testExact(text)),
  };
}

/** Where editors end a line beside the line feeds at which git does. */
const OTHER_LINE_ENDS = /\r\n|[\r\v\f\x85\u2028\u2029]/g;
/** What takes no space, such as a byte order mark. */
const UNSEEN = /(?![\t\n])[\p{Cc}\p{Default_Ignorable_Code_Point}]/gu;

/**
 * Whether one of the patterns is found in a text, or with `eachLine` in a line of it. Its author must not hide anything
 * from `^`, `$` and `.`: it is also tried with the line ends of editors, and either way without what nobody sees. Where
 * a match is what a rule asks for (`required`), it must be there with either kind of line ends.
 */
export function compilePatterns(
  sources: readonly string[],
  { required = false, eachLine = false }: { readonly required?: boolean | undefined; readonly eachLine?: boolean },
) {
  const patterns = sources.map((source) => compilePattern(source));
  const isFound = (reading: string) => {
    const texts = eachLine ? reading.split('\n') : [reading];
    return patterns.some((pattern) => texts.some((text) => pattern.found(text)));
  };
  return (text: string): boolean => {
    const asGit = text.replaceAll('\r\n', '\n');
    const asShown = text.replaceAll(OTHER_LINE_ENDS, '\n');
    const readings = new Set(
      [asGit, asShown].flatMap((lines) => (required ? [lines] : [lines, lines.replaceAll(UNSEEN, '')])),
    );
    return required ? [...readings].every(isFound) : [...readings].some(isFound);
  };
}

function trimmed(program: RE2JS, result: boolean): boolean {
  const automaton: Automaton | null = program.re2().lazyDFA;
  if (automaton !== null && automaton.maxMem - automaton.memBudget > MAX_AUTOMATON_BYTES) {
    automaton.clearCache();
  }
  return result;
}

type Compiled = { readonly program: RE2JS } | { readonly fault: string };

/** By source. A pattern is checked, and then matched, and a list of them may be used in many rules. */
const kept = new LRUCache<string, Compiled>({ max: MAX_KEPT_PROGRAMS });

function compileOnce(source: string): Compiled {
  const cached = kept.get(source);
  if (cached !== undefined) {
    return cached;
  }
  const compiled = compile(source);
  kept.set(source, compiled);
  return compiled;
}

function compile(source: string): Compiled {
  const tooLarge = {
    fault: `this pattern's repetitions make it too large to run (more than ${MAX_PATTERN_SIZE} steps a character)`,
  };
  if (estimatedSize(source) > MAX_PATTERN_SIZE) {
    return tooLarge;
  }
  try {
    const program = RE2JS.compile(source);
    return program.programSize() > MAX_PATTERN_SIZE ? tooLarge : { program };
  } catch (error) {
    if (error instanceof RE2JSSyntaxException) {
      return { fault: syntaxFault(source, error) };
    }
    throw error;
  }
}

/** Why a pattern that somebody wrote cannot be used; undefined when it can. */
export function patternFault(source: string): string | undefined {
  const control = [...source].find((character) => character < ' ' && character !== '\t' && character !== '\n');
  if (control !== undefined) {
    const name = `U+${control.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`;
    return `the pattern has a control character (${name}): in double quotes YAML interprets "\\b" and the like; use single quotes`;
  }
  return source.length > MAX_PATTERN_LENGTH
    ? `a pattern may have ${MAX_PATTERN_LENGTH} characters; this one has ${source.length}`
    : expressionFault(source);
}

/** The same of an expression that was made from something shorter. */
export function expressionFault(source: string): string | undefined {
  const compiled = compileOnce(source);
  return 'fault' in compiled ? compiled.fault : undefined;
}

function syntaxFault(source: string, error: RE2JSSyntaxException): string {
  if (/\(\?(?:[=!]|<[=!])/.test(source)) {
    return 'lookahead and lookbehind are not available: patterns run in linear time (RE2)';
  }
  if (/\\[1-9]/.test(source)) {
    return 'backreferences are not available: patterns run in linear time (RE2)';
  }
  return `not a valid RE2 pattern: ${error.message.replace(/^error parsing regexp: /, '')}`;
}

/**
 * How large a pattern will be once its counted repetitions are written out, without writing them out. Compiling
 * a hostile one only to find that it is too large is the cost that a limit on its size is there to avoid.
 * Rounds up where it does not understand.
 */
function estimatedSize(source: string): number {
  // Sizes of the groups that are open, and of the last thing in the innermost one: what `{n}` would repeat.
  const open: number[] = [0];
  let last = 0;
  const add = (size: number): void => {
    open[open.length - 1] = (open.at(-1) ?? 0) + size;
    last = size;
  };
  const token = /\\[xpP]\{[^}]*\}|\\.|\[\^?\]?(?:\\.|\[:\^?\w+:\]|[^\]\\])*\]|\{(\d+)(?:,(\d*))?\}|[\s\S]/g;
  for (const [text, least, most] of source.matchAll(token)) {
    if (text === '(') {
      open.push(0);
      last = 0;
    } else if (text === ')' && open.length > 1) {
      add(open.pop() ?? 0);
    } else if (least !== undefined) {
      const times = Math.max(Number(least), Number(most ?? 0), 1);
      const once = last;
      add(once * (times - 1));
      last = once * times;
    } else {
      add(1);
    }
    if ((open.at(-1) ?? 0) > MAX_PATTERN_SIZE) {
      return Number.POSITIVE_INFINITY;
    }
  }
  return open.reduce((sum, size) => sum + size, 0);
}
