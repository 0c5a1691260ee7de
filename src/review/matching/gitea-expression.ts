/**
 * Translates an expression of Gitea's engine (regexp2, which follows .NET) into one that means the same to RE2.
 * Undefined if that is not certain: Gitea may read it differently, or RE2 has nothing like it.
 * A fault in its parentheses stays in the result, for RE2 to find.
 * https://github.com/dlclark/regexp2/blob/v1.11.5/syntax/parser.go
 */
export function fromGiteaExpression(source: string): string | undefined {
  let expression = '';
  let depth = 0;
  let repeated = false;
  for (let at = 0; at < source.length; ) {
    const rest = source.slice(at);
    const repetition = REPETITION.exec(rest);
    const token = repetition?.[0] ?? TOKEN.exec(rest)?.[0];
    if (token === undefined || (repeated && repetition !== null)) {
      return;
    }
    if (token === '[') {
      // A set without an end, which neither engine takes.
      return token;
    }
    at += token.length;
    repeated = repetition !== null;
    if (token.startsWith('(')) {
      depth += 1;
    } else if (token === ')') {
      depth -= 1;
    } else if (token === '$' && !endsThere(source.slice(at), depth)) {
      return;
    }
    const translated = repetition === null ? translatedToken(token) : translatedRepetition(repetition);
    if (translated === undefined) {
      return;
    }
    expression += translated;
  }
  return expression;
}

/** Any other `{` is an ordinary character. */
const REPETITION = /^(?:[*+?]|\{(\d+)(?:(,)(\d*))?\})\??/;

/** An escaped character, a set, a group, or one character. */
const TOKEN = /^(?:\\[\s\S]|\[(?:\\[\s\S]|[^\]\\])*\]|\(\?:|\((?!\?)|[^\\(])/u;

function translatedRepetition([token, least, comma = '', most = '']: RegExpExecArray): string {
  if (least === undefined) {
    return token;
  }
  // RE2 takes `{01}` for text.
  return `{${Number(least)}${comma}${most === '' ? '' : Number(most)}}`;
}

function translatedToken(token: string): string | undefined {
  if (token.startsWith('\\')) {
    return CLASSES[token] ?? escaped(token);
  }
  return token.startsWith('[') ? translatedSet(token) : (SPECIAL[token] ?? literal(token));
}

const SPECIAL: Readonly<Record<string, string>> = {
  '(': '(?:',
  '(?:': '(?:',
  ')': ')',
  '|': '|',
  '.': '[^\\n]',
  '^': '(?:\\A)',
  $: '\\n?\\z',
};

/** Letters that a later version of Unicode added are such for RE2 alone: Go's tables are of version 15. */
const WORD = '\\p{L}\\p{Mn}\\p{Nd}\\p{Pc}\\x{200C}\\x{200D}';
const SPACE = '\\t-\\r \\x{85}\\x{A0}\\x{1680}\\x{2000}-\\x{200A}\\x{2028}\\x{2029}\\x{202F}\\x{205F}\\x{3000}';

/** What may also be part of a set. There, the engine reads the capitals in a way of its own. */
const MEMBERS: Readonly<Record<string, string>> = { '\\w': WORD, '\\d': '\\p{Nd}', '\\s': SPACE };

/** Without `\D`: the engine does not find a match that may begin with it or with something else. */
const CLASSES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.entries(MEMBERS).map(([name, members]) => [name, `[${members}]`])),
  '\\W': `[^${WORD}]`,
  '\\S': `[^${SPACE}]`,
};

/** Punctuation of ASCII, without the `<` and `'` that begin a reference to a group. */
function escaped(token: string): string | undefined {
  return /^\\[!-&(-/:;=-@[-^`{-~ ]$/.test(token) ? literal(token.slice(1)) : undefined;
}

function literal(character: string): string {
  return /\w/.test(character) ? character : `\\x{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

/** A class, `\-`, a character or a range; `-` alone is taken only where no range can be meant. */
const MEMBER = /^(?:(\\[wds]|\\-)|(\\[ -,./:-@[-^`{-~]|[^\\[\]-])(?:-(\\[ -,./:-@[-^`{-~]|[^\\[\]-]))?|-$)/u;

function translatedSet(token: string): string | undefined {
  const negated = token.startsWith('[^');
  let rest = token.slice(negated ? 2 : 1, -1);
  let members = '';
  if (rest === '') {
    // The bracket is then a member of the set.
    return;
  }
  while (rest !== '') {
    const member = MEMBER.exec(rest);
    if (member === null) {
      return;
    }
    const [written, whole = '-', first, last] = member;
    rest = rest.slice(written.length);
    const translated =
      first === undefined ? (MEMBERS[whole] ?? literal('-')) : [first, last].flatMap((end) => setCharacter(end));
    members += typeof translated === 'string' ? translated : translated.join('-');
  }
  return `[${negated ? '^' : ''}${members}]`;
}

function setCharacter(written: string | undefined): readonly string[] {
  return written === undefined ? [] : [literal(written.replace(/^\\/, ''))];
}

/** Whether nothing can follow a `$` before `rest`. Only then may it take the line feed that it allows. */
function endsThere(rest: string, depth: number): boolean {
  let open = depth;
  for (const character of rest) {
    if (character === ')') {
      open -= 1;
    } else if (character !== '$') {
      return character === '|' && open === 0;
    }
  }
  return true;
}
