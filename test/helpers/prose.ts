import MarkdownIt, { type Token } from 'markdown-it';

const parser = new MarkdownIt({ html: true });

/** The texts of paragraphs, headings and list items. Tables, blocks of code, HTML and addresses are left out. */
export function proseIn(markdown: string): readonly string[] {
  const texts: string[] = [];
  let inTable = false;
  for (const token of parser.parse(markdown, {})) {
    inTable = token.type === 'table_open' || (inTable && token.type !== 'table_close');
    if (token.type === 'inline' && !inTable) {
      texts.push((token.children ?? []).map(textOf).join('').trim());
    }
  }
  return texts.filter((text) => text !== '');
}

/** Code counts as one word, whatever is in it. */
function textOf({ type, content }: Token): string {
  if (type === 'code_inline') {
    return content.replaceAll(/\s+/g, '_').replaceAll(/[.!?]/g, '_');
  }
  if (type === 'softbreak' || type === 'hardbreak') {
    return ' ';
  }
  return type === 'text' ? content : '';
}

export function wordsIn(text: string): number {
  return text.split(/\s+/).filter((word) => /[\p{L}\p{N}_]/u.test(word)).length;
}

/** A sentence ends with a full stop, a question mark, or a colon at the end of its paragraph. */
export function sentencesIn(text: string): readonly string[] {
  return text.split(/(?<=[.!?][)"”*_]?)\s+(?=\S)/);
}
