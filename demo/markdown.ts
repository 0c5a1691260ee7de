import { stripVTControlCharacters, styleText } from 'node:util';

type Style = Parameters<typeof styleText>[0];

interface Run {
  readonly text: string;
  readonly style?: Style;
}

/**
 * Markdown as Gatehouse writes it, for a terminal: headings, lists, bold, code spans and folded details, tables and links. A forge shows
 * the same text as a page; the HTML comment that marks it as Gatehouse's is invisible there.
 */
export function renderMarkdown(source: string, width: number): readonly string[] {
  const lines = source
    .replace(/<!--[\s\S]*?-->/g, '')
    .replace(/<details>\s*<summary>(.*?)<\/summary>\s*/g, '▸ $1\n')
    .replace(/<\/?details>/g, '')
    .replace(/^\|(.*)\|\n\|[-|]+\|\n((?:\|.*\|\n?)+)/gm, (_table, head: string, rows: string) =>
      rows.replace(/^\|(.*)\|$/gm, (_row, cells: string) => renderRow(cellsOf(head), cellsOf(cells))),
    )
    .replaceAll('<br>', ' ')
    .trim()
    .split('\n')
    .flatMap((line) => renderLine(line, width));
  // Omitted parts must not leave empty lines.
  return lines.filter((line, index) => line !== '' || lines[index - 1] !== '');
}

function cellsOf(row: string): readonly string[] {
  return row.split('|').map((cell) => cell.trim());
}

/** The first cells in a line, the others below it with their column's name: a terminal is too narrow for a table. */
function renderRow([, , ...columns]: readonly string[], [icon, first, ...others]: readonly string[]): string {
  return [`${icon} ${first}`, ...others.map((cell, index) => `   ${columns[index]}: ${cell}`)].join('\n');
}

function renderLine(line: string, width: number): readonly string[] {
  if (/^---+$/.test(line)) {
    return [styleText('dim', '─'.repeat(Math.min(width, 24)))];
  }
  const [, heading] = /^#{1,6} (.*)$/.exec(line) ?? [];
  if (heading !== undefined) {
    return wrap(runs(heading, 'bold'), '', '', width);
  }
  const [, indent = '', bullet, rest = ''] = /^(\s*)(- )?(.*)$/.exec(line) ?? [];
  const first = bullet === undefined ? indent : `${indent}• `;
  return wrap(runs(rest), first, bullet === undefined ? indent : `${indent}  `, width);
}

const INLINE =
  /(`+)([\s\S]*?[^`])\1(?!`)|\[(`+[^\]]*`|\d+)\]\([^)\s]*\)|\*\*([\s\S]+?)\*\*(?!\*)|\\([\\`*_{}[\]#!|~$+=-])|&(lt|gt|amp|#124);|\u200b/g;
const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', '#124': '|' };

function runs(text: string, around?: Style): readonly Run[] {
  const plain = (words: string): readonly Run[] =>
    words === '' ? [] : [around === undefined ? { text: words } : { text: words, style: around }];
  const found: Run[] = [];
  let end = 0;
  for (const match of text.matchAll(INLINE)) {
    const [whole, , code, label, bold, escaped, entity] = match;
    found.push(...plain(text.slice(end, match.index)));
    end = match.index + whole.length;
    if (code !== undefined) {
      found.push({ text: code.replace(/^ (.*\S.*) $/, '$1'), style: 'cyan' });
    } else if (label !== undefined) {
      found.push(...runs(label, around));
    } else if (bold !== undefined) {
      found.push(...runs(bold, 'bold'));
    } else {
      found.push(...plain(escaped ?? (entity === undefined ? '' : (ENTITIES[entity] ?? ''))));
    }
  }
  return [...found, ...plain(text.slice(end))];
}

/** Breaks at spaces. Each word is styled by itself, so that no style runs over a line's end. */
function wrap(parts: readonly Run[], first: string, next: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line = first;
  let start = true;
  let glued = false;
  for (const { text, style } of parts) {
    const words = text.split(/( +)/).filter((word) => word !== '');
    for (const word of words) {
      if (word.startsWith(' ')) {
        glued = false;
        continue;
      }
      const styled = style === undefined ? word : styleText(style, word);
      const gap = start || glued ? '' : ' ';
      if (!start && !glued && stripVTControlCharacters(line).length + 1 + word.length > width) {
        lines.push(line);
        line = `${next}${styled}`;
      } else {
        line += gap + styled;
      }
      start = false;
      glued = true;
    }
  }
  return [...lines, line.trimEnd()];
}
