import { shorten } from '../../common/shorten.ts';
import { either, quotedList, type Text, visible } from '../text.ts';
import type { Links } from './links.ts';

const MAX_QUOTED_SHOWN = 300;

/**
 * Text of unknown origin as a code span: nothing in it is Markdown, HTML, a mention, a reference or a link, on
 * GitHub (which does not look into `code`) and on Gitea and Forgejo (which skip code spans for mentions) alike.
 */
export function code(text: string, shown = MAX_QUOTED_SHOWN): string {
  // Invisible characters and line ends are spelled out. A comment's opening is broken, for our own marker comments
  // are searched for in the raw body.
  const content = visible(shorten(text, shown)).replaceAll('<!--', '<! --');
  if (content.trim() === '') {
    return content === '' ? '(empty)' : '(blank)';
  }
  const runs = [...content.matchAll(/`+/g)].map(([run]) => run.length);
  // A code span ends at the first run of as many backticks as began it.
  const fence = '`'.repeat(Math.max(0, ...runs) + 1);
  const padding = /^[` ]|[` ]$/.test(content) ? ' ' : '';
  return `${fence}${padding}${content}${padding}${fence}`;
}

/** A pipe ends a table's cell, even in a code span, and backslashes before it are read in different ways. */
const PIPE = '&#124;';

/**
 * The same for a table's cell: one code span between two pipes, for nothing in a code span can be spelled as a pipe.
 */
export function codeInCell(text: string, shown = MAX_QUOTED_SHOWN): string {
  return shorten(text, shown)
    .split('|')
    .map((part, _index, parts) => (part === '' && parts.length > 1 ? '' : code(part, shown)))
    .join(PIPE);
}

/** A zero-width space: keeps two characters from being read together. */
const BREAK = '\u200b';

/**
 * Text of unknown origin as prose: shown as it is written, with its line ends. Markdown's characters are escaped, and
 * mentions, references and links are broken up.
 */
export function prose(text: string): string {
  return text
    .split('\n')
    .map((line) => escapeLine(visible(line.replace(/\r$/, '')).trim()))
    .filter((line) => line !== '')
    .join('  \n');
}

function escapeLine(line: string): string {
  return line
    .replace(/[\\`*_{}[\]#!~$]/g, '\\$&')
    .replace(/^([-+=]|\d+(?=[.)]))/, (start) => (/\d/.test(start) ? `${start}${BREAK}` : `\\${start}`))
    .replace(/&/g, '&amp;')
    .replace(/</g, '&lt;')
    .replace(/>/g, '&gt;')
    .replace(/[@#!]/g, `$&${BREAK}`)
    .replace(/:(?=\/\/)|\/(?=\/)|www(?=\.)|GH(?=-)|mailto(?=:)|xmpp(?=:)/gi, `$&${BREAK}`)
    .replace(/\|/g, PIPE);
}

/** Prose for a table's cell. */
export function proseInCell(text: string): string {
  return prose(text).replaceAll('  \n', '<br>');
}

/** A text with its quoted parts as code spans. */
export function markdown(text: Text): string {
  return text
    .map((piece) => {
      if (typeof piece === 'string') {
        return piece;
      }
      return 'quoted' in piece ? code(piece.quoted) : markdown(quotedList(piece.patterns));
    })
    .join('');
}

/** Characters of a regular expression in a table. The whole of it is below the table. */
const MAX_PATTERN_SHOWN = 40;
const MAX_PATTERNS_SHOWN = 3;

/** The same for a table's cell, with links to files. */
export function markdownInCell(text: Text, links: Links): string {
  return text
    .map((piece) => {
      if (typeof piece === 'string') {
        return piece;
      }
      if ('patterns' in piece) {
        const shown = piece.patterns.map((pattern) => shorten(pattern, MAX_PATTERN_SHOWN));
        return markdownInCell(either(shown, MAX_PATTERNS_SHOWN), links);
      }
      const url = piece.path ? links.place(piece.quoted) : piece.url && links.page(piece.url);
      return link(codeInCell(piece.quoted), url);
    })
    .join('');
}

/** `url` is one of {@link Links}, which are encoded for this. */
export function link(label: string, url: string | undefined): string {
  return url === undefined ? label : `[${label}](${url})`;
}
