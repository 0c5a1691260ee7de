import MarkdownIt from 'markdown-it';
import { addressOf } from './pages.ts';

/** As a forge shows the pages: headings have its anchors, and links between pages lead to the pages of the site. */
export function makeMarkdown(): MarkdownIt {
  const markdown = new MarkdownIt({ html: true });
  markdown.core.ruler.push('anchors', ({ tokens }) => {
    for (const [index, token] of tokens.entries()) {
      const text = tokens[index + 1]?.children ?? [];
      if (token.type === 'heading_open') {
        token.attrSet('id', anchorOf(text.map(({ content }) => content).join('')));
      }
      for (const link of token.children ?? []) {
        const target = link.attrGet('href');
        if (target !== null && !/^[a-z]+:/.test(target)) {
          link.attrSet('href', addressOf(target));
        }
      }
    }
  });
  // A wide table scrolls by itself, and the page does not.
  markdown.renderer.rules['table_open'] = () => '<div class="table"><table>';
  markdown.renderer.rules['table_close'] = () => '</table></div>';
  return markdown;
}

function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(' ', '-');
}
