import MarkdownIt from 'markdown-it';
import type { Html } from './html.ts';

/**
 * The Markdown of a comment as HTML. HTML in it is shown as text, except for the few tags that Gatehouse writes itself:
 * `<br>`, and lines with `<details><summary>…</summary>` and `</details>`. Nothing is loaded, and links lead nowhere,
 * because the forge of the demo has no pages.
 */
const markdownIt = new MarkdownIt({ html: false, linkify: false }).disable('image');

markdownIt.renderer.rules['link_open'] = () => '<span class="link">';
markdownIt.renderer.rules['link_close'] = () => '</span>';

markdownIt.inline.ruler.before('html_inline', 'br', (state, silent) => {
  if (!state.src.startsWith('<br>', state.pos)) {
    return false;
  }
  if (!silent) {
    state.push('hardbreak', 'br', 0);
  }
  state.pos += '<br>'.length;
  return true;
});

const ANY_PARAGRAPH = { alt: ['paragraph'] };

markdownIt.block.ruler.before(
  'paragraph',
  'details',
  (state, line, _end, silent) => {
    const text = state.getLines(line, line + 1, state.blkIndent, false);
    const [, summary] = /^<details><summary>(.*)<\/summary>$/.exec(text) ?? [];
    if (summary === undefined && text !== '</details>') {
      return false;
    }
    if (!silent) {
      if (summary === undefined) {
        state.push('details_close', 'details', -1);
      } else {
        state.push('details_open', 'details', 1);
        state.push('summary_open', 'summary', 1);
        const inline = state.push('inline', '', 0);
        inline.content = summary;
        inline.children = [];
        state.push('summary_close', 'summary', -1);
      }
      state.line = line + 1;
    }
    return true;
  },
  ANY_PARAGRAPH,
);

/** Comments of HTML that Gatehouse finds its own comments by. No forge shows them. */
const MARKERS = /^<!-- gatehouse:[^<>]* -->$/gm;

export function commentHtml(markdown: string): Html {
  return { html: markdownIt.render(markdown.replace(MARKERS, '')) };
}
