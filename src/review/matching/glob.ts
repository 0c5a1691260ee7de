import { MAX_GLOB_LENGTH } from '../limits.ts';
import { compilePattern, expressionFault } from './pattern.ts';

/**
 * Globs over paths from the repository's root, with `/` between folders:
 *
 * - `*` any characters but `/`, `?` one of them, `[a-z]` and `[!a-z]` one of a set
 * - `**` as a whole segment: any number of folders, at the end everything beneath
 * - `{a,b}` either; `\` takes the next character as it is; dot files are files like any other
 *
 * They are written by people we do not know, and the usual libraries compile globs to backtracking expressions, with
 * which `*a*a*a*a*a*b` takes exponential time. Ours become RE2 programs no longer than the glob, which run in linear
 * time. Braces turn into alternatives, not into products, and extended globs (`+(…)`) are refused by name.
 */
export interface Globs {
  matches(path: string): boolean;
}

/**
 * A path matches when it matches one of the globs and none of those that start with `!`. Their order is of no account.
 */
export function compileGlobs(globs: readonly string[]): Globs {
  const wanted = globs.filter((glob) => !glob.startsWith('!')).map((glob) => compile(glob));
  const unwanted = globs.filter((glob) => glob.startsWith('!')).map((glob) => compile(glob.slice(1)));
  return {
    matches: (path) =>
      (wanted.length === 0 || wanted.some((glob) => glob.matches(path))) &&
      !unwanted.some((glob) => glob.matches(path)),
  };
}

function compile(glob: string) {
  const translated = translate(glob);
  if ('fault' in translated) {
    throw new Error(`a glob that should have been refused: ${translated.fault}`);
  }
  return compilePattern(translated.expression);
}

/** Why a glob cannot be used; undefined when it can. */
export function globFault(glob: string): string | undefined {
  if (glob.length > MAX_GLOB_LENGTH) {
    return `a glob may have ${MAX_GLOB_LENGTH} characters; this one has ${glob.length}`;
  }
  const body = glob.startsWith('!') ? glob.slice(1) : glob;
  if (body === '') {
    return 'an empty glob matches nothing';
  }
  if (body.startsWith('/') || body.startsWith('./')) {
    return `globs start at the repository's root: leave out the leading "${body.startsWith('/') ? '/' : './'}"`;
  }
  if (body.endsWith('/')) {
    return 'to mean everything in a folder, end the glob with "/**"';
  }
  const translated = translate(body);
  return 'fault' in translated ? translated.fault : expressionFault(translated.expression);
}

type Translation = { readonly expression: string } | { readonly fault: string };

function translate(glob: string): Translation {
  let expression = '';
  let braces = 0;
  let index = 0;
  while (index < glob.length) {
    const rest = glob.slice(index);
    const character = rest[0] ?? '';
    // The start of a segment is the start of the glob, what follows a slash, and the same within braces.
    const segmentStart = index === 0 || /[/{,]/.test(glob[index - 1] ?? '');
    const segmentEnd = braces > 0 ? /^\*\*+(?=[/,}]|$)/ : /^\*\*+(?=\/|$)/;
    const wholeSegment = segmentStart ? segmentEnd.exec(rest)?.[0] : undefined;
    if (/^[@!+?*]\(/.test(rest)) {
      return { fault: 'extended globs such as "+(a|b)" are not available; write "{a,b}"' };
    }
    if (wholeSegment !== undefined) {
      const inside = rest[wholeSegment.length] === '/';
      expression += inside ? '(?:[^/]+/)*' : '(?s:.+)';
      index += wholeSegment.length + (inside ? 1 : 0);
    } else if (character === '*') {
      expression += '[^/]*';
      index += /^\*+/.exec(rest)?.[0].length ?? 1;
    } else if (character === '?') {
      expression += '[^/]';
      index += 1;
    } else if (character === '[') {
      const set = /^\[([!^]?)(\]?[^\]/]*)\]/.exec(rest);
      if (set === null || set[2] === '') {
        return { fault: 'this "[" is never closed; write "\\[" to mean the character' };
      }
      expression += characterSet(set[2] ?? '', set[1] !== '');
      index += set[0].length;
    } else if (character === '{') {
      if (/^\{[^{},]*\}/.test(rest)) {
        return { fault: 'braces list alternatives with commas: "{a,b}"' };
      }
      braces += 1;
      expression += '(?:';
      index += 1;
    } else if (character === '}' && braces > 0) {
      braces -= 1;
      expression += ')';
      index += 1;
    } else if (character === ',' && braces > 0) {
      expression += '|';
      index += 1;
    } else if (character === '\\') {
      if (rest.length === 1) {
        return { fault: 'a glob cannot end with "\\"' };
      }
      const escaped = String.fromCodePoint(rest.codePointAt(1) ?? 0);
      expression += literal(escaped);
      index += 1 + escaped.length;
    } else {
      const own = String.fromCodePoint(rest.codePointAt(0) ?? 0);
      expression += literal(own);
      index += own.length;
    }
  }
  return braces > 0 ? { fault: 'this "{" is never closed; write "\\{" to mean the character' } : { expression };
}

/** RE2 takes a backslash before any punctuation, and code points by number. */
function literal(character: string): string {
  if (/^[\w/]$/.test(character)) {
    return character;
  }
  return `\\x{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

/** A set never matches `/`, so that one segment stays one segment. */
function characterSet(members: string, negated: boolean): string {
  const points = [...members];
  let set = '';
  for (let index = 0; index < points.length; index += 1) {
    const from = points[index] ?? '';
    const to = points[index + 2];
    if (points[index + 1] === '-' && to !== undefined) {
      set += `${literal(from)}-${literal(to)}`;
      index += 2;
    } else {
      set += literal(from);
    }
  }
  return negated ? `[^/${set}]` : `[${set}]`;
}
