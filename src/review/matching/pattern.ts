import { RE2JS, RE2JSSyntaxException } from 're2js';
import { MAX_PATTERN_LENGTH, MAX_PATTERN_SIZE } from '../limits.ts';
import type { StepBudget } from './budget.ts';

/** Compiling takes about as long as this many steps for each instruction of the program. */
const COMPILE_STEPS_PER_INSTRUCTION = 20;
/** Asking for a match at all, however short the text, takes about as long as this many steps. */
const STEPS_PER_MATCH = 16;
/** Characters that an automaton already built runs through in the time of one step. */
const CHARACTERS_PER_STEP = 4;
/** Bytes of automaton that one pattern may keep. re2js alone would keep eight times as many, for each pattern. */
const MAX_AUTOMATON_BYTES = 1024 * 1024;

/** What re2js shows of the automaton that it keeps for a pattern; null until it needs one. */
type Automaton = Pick<
  ReturnType<RE2JS['re2']>['lazyDFA'],
  'startStates' | 'memBudget' | 'maxMem' | 'stateCount' | 'numClasses' | 'clearCache'
>;

/** A regular expression that runs in linear time and whose work is counted. */
export interface Pattern {
  /** Anywhere in the text. */
  found(text: string): boolean;
  /** The whole text. */
  matches(text: string): boolean;
}

/**
 * Compiles an expression that {@link patternFault} had nothing against, or that we wrote ourselves.
 *
 * re2js builds its automaton while it matches. A character costs next to nothing where the automaton has been before,
 * and up to the whole program's size where it has not: between the two lies a factor of a thousand. So a text's price
 * is worked out after it was matched, from how much automaton there is, as an upper bound; before, there must be enough
 * steps left for the worst.
 */
export function compilePattern(source: string, budget: StepBudget): Pattern {
  const compiled = RE2JS.compile(source);
  const size = compiled.programSize();
  budget.spend(size * COMPILE_STEPS_PER_INSTRUCTION);
  let characters = 0;
  let built = 0;
  /** Once an automaton grows too large, each of its characters is taken to cost the worst. */
  let wild = false;

  function run(text: string, match: () => boolean): boolean {
    const length = text.length + 1;
    budget.reserve(size * length);
    const before: number | undefined = compiled.re2().lazyDFA?.memBudget;
    const result = match();
    budget.spend(STEPS_PER_MATCH + Math.ceil(length / CHARACTERS_PER_STEP));
    const automaton: Automaton | null = compiled.re2().lazyDFA;
    if (automaton === null) {
      return result; // a literal, or a pattern that needs none
    }
    characters += length;
    // The library empties a full automaton, its starting states first.
    const emptied = automaton.startStates.size === 0 || (before !== undefined && automaton.memBudget > before);
    const full = automaton.maxMem - automaton.memBudget > MAX_AUTOMATON_BYTES;
    wild ||= emptied || full;
    // Each way out of each state was built at most once, and never more than one a character.
    const ways = Math.min(characters, automaton.stateCount * (automaton.numClasses + 1));
    budget.spend(size * (wild ? length : Math.max(0, ways - built)));
    built = Math.max(built, ways);
    if (full) {
      automaton.clearCache();
    }
    return result;
  }

  return {
    found: (text) => run(text, () => compiled.test(text)),
    matches: (text) => run(text, () => compiled.testExact(text)),
  };
}

/** Why a pattern that somebody wrote cannot be used; undefined when it can. */
export function patternFault(source: string): string | undefined {
  const control = [...source].find((character) => character < ' ' && character !== '\t' && character !== '\n');
  if (control !== undefined) {
    const name = `U+${control.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`;
    return `the pattern has a control character (${name}): in double quotes YAML reads "\\b" and the like itself; write it in single quotes`;
  }
  return source.length > MAX_PATTERN_LENGTH
    ? `a pattern may have ${MAX_PATTERN_LENGTH} characters; this one has ${source.length}`
    : expressionFault(source);
}

/** The same of an expression that was made from something shorter. */
export function expressionFault(source: string): string | undefined {
  const tooLarge = `this pattern's repetitions make it too large to run (more than ${MAX_PATTERN_SIZE} steps a character)`;
  if (estimatedSize(source) > MAX_PATTERN_SIZE) {
    return tooLarge;
  }
  try {
    return RE2JS.compile(source).programSize() > MAX_PATTERN_SIZE ? tooLarge : undefined;
  } catch (error) {
    if (error instanceof RE2JSSyntaxException) {
      return syntaxFault(source, error);
    }
    throw error;
  }
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
  const token = /\\.|\[\^?\]?(?:\\.|\[:\^?\w+:\]|[^\]\\])*\]|\{(\d+)(?:,(\d*))?\}|[\s\S]/g;
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
