import MarkdownIt, { type Token } from 'markdown-it';

const parser = new MarkdownIt({ html: true });

/** The texts of paragraphs, headings and list items. Tables, blocks of code, HTML and addresses are left out. */
export function proseIn(markdown: string): readonly string[] {
  return textsIn(markdown).flatMap(({ text, inTable }) => (inTable ? [] : [text]));
}

/** The texts of the cells of tables, those of the headers too. */
export function cellsIn(markdown: string): readonly string[] {
  return textsIn(markdown).flatMap(({ text, inTable }) => (inTable ? [text] : []));
}

function textsIn(markdown: string) {
  const texts: { readonly text: string; readonly inTable: boolean }[] = [];
  let inTable = false;
  for (const token of parser.parse(markdown, {})) {
    inTable = token.type === 'table_open' || (inTable && token.type !== 'table_close');
    if (token.type === 'inline') {
      texts.push({ text: (token.children ?? []).map(textOf).join('').trim(), inTable });
    }
  }
  return texts.filter(({ text }) => text !== '');
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
