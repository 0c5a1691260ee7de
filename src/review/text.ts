import { shorten } from '../common/shorten.ts';

/**
 * A sentence for people, in which what came from outside is kept apart from our own words.
 *
 * A pull request's title, a path, a login or a pattern may hold anything: Markdown, HTML, a mention, terminal
 * escapes. Carrying them as `quoted` pieces lets each output (Markdown, terminal) show them harmlessly without
 * having to guess which part of a sentence to trust.
 *
 * `path`: the quoted text is the path of a file that the head commit has. `url`: the page that somebody else names for
 * it, which may be any text. `patterns` are regular expressions, which
 * explain little to whom they are not known: where there is a better place for them, they are only mentioned.
 */
type Piece =
  | string
  | { readonly quoted: string; readonly path?: true; readonly url?: string }
  | { readonly patterns: readonly string[] };
export type Text = readonly Piece[];

/** Template tag: a string interpolated is quoted, a number is ours, a Text is taken in as it is. */
export function say(words: TemplateStringsArray, ...values: readonly (string | number | Text)[]): Text {
  const pieces: Piece[] = [];
  words.forEach((word, index) => {
    if (word !== '') {
      pieces.push(word);
    }
    const value = values[index];
    if (value === undefined) {
      return;
    }
    if (typeof value === 'string') {
      pieces.push({ quoted: value });
    } else if (typeof value === 'number') {
      pieces.push(String(value));
    } else {
      pieces.push(...value);
    }
  });
  return pieces;
}

/** `a`, `b` and 3 more. */
export function quotedList(values: readonly string[], shown = 10): Text {
  const pieces: Piece[] = [];
  for (const value of values.slice(0, shown)) {
    if (pieces.length > 0) {
      pieces.push(', ');
    }
    pieces.push({ quoted: value });
  }
  if (values.length > shown) {
    pieces.push(` and ${values.length - shown} more`);
  }
  return pieces;
}

/** `a`, `b` or `c`; with more than are shown: `a`, `b` or 3 more. */
export function either(values: readonly string[], shown = 10): Text {
  const first = values.slice(0, values.length > shown ? shown : -1);
  const last = values.length > shown ? [`${values.length - shown} more`] : quotedList(values.slice(-1));
  return joinTexts([quotedList(first), last], ' or ');
}

/** As the beginning of a sentence. */
export function capitalised(text: Text): Text {
  const [first, ...rest] = text;
  return typeof first === 'string' ? [first.charAt(0).toUpperCase() + first.slice(1), ...rest] : text;
}

/** Like {@link quotedList}, of regular expressions. */
export function patternList(sources: readonly string[]): Text {
  return [{ patterns: sources }];
}

/** Like {@link quotedList}, of files that the head commit has. */
export function pathList(paths: readonly string[], shown?: number): Text {
  return quotedList(paths, shown).map((piece) =>
    typeof piece !== 'string' && 'quoted' in piece ? { ...piece, path: true } : piece,
  );
}

/** Those that are not empty, with a word between them. */
export function joinTexts(texts: readonly Text[], separator: string): Text {
  return texts.filter((text) => text.length > 0).flatMap((text, index) => (index === 0 ? text : [separator, ...text]));
}

/** `1 file`, `2 files`. */
export function count(amount: number, singular: string, plural = `${singular}s`): Text {
  return [`${amount} ${amount === 1 ? singular : plural}`];
}

// Controls, zero-width and bidirectional marks, fillers, line and paragraph separators, and half a surrogate pair: what
// a terminal obeys, or what makes a reader see something other than what is there. U+FE0F belongs to emoji.
const INVISIBLE = /(?!\ufe0f)[\p{Cc}\p{Default_Ignorable_Code_Point}\u2028\u2029\u2800\ufff9-\ufffb]|\p{Cs}/gu;

/** The same text with every invisible character spelled out as its code point. */
export function visible(text: string): string {
  return text.replace(INVISIBLE, (character) => {
    if (character === '\n') {
      return '\\n';
    }
    if (character === '\t') {
      return ' ';
    }
    return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
  });
}

/** Whether there is a letter or a digit in it that a reader sees. */
export function hasWords(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(text.replace(INVISIBLE, ''));
}

/** For a commit status, which forges show as plain text: nothing around quoted pieces. */
export function bare(text: Text): string {
  return written(text, visible);
}

/** For a terminal or a log: quoted pieces in double quotes. */
export function plain(text: Text, shown = 200): string {
  return written(text, (quoted) => `"${visible(shorten(quoted, shown))}"`);
}

function written(text: Text, quote: (quoted: string) => string): string {
  return text
    .map((piece) => {
      if (typeof piece === 'string') {
        return piece;
      }
      return 'quoted' in piece ? quote(piece.quoted) : written(quotedList(piece.patterns), quote);
    })
    .join('');
}

/** What a report says was found of a fact that is unread. `in full`: some of it was read. */
export function unreadText({ unreadAs }: { readonly unreadAs: string }, how: '' | ' in full' = ''): Text {
  return [`${unreadAs} that could not be read${how}`];
}
