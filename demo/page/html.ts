import MarkdownIt from 'markdown-it';

/** Text that is HTML already, and is not escaped again. */
export interface Html {
  readonly html: string;
}

type Value = Html | string | number | readonly Html[];

const { escapeHtml } = new MarkdownIt().utils;

/** A template of HTML: every value is escaped, unless it was made by such a template or is declared to be HTML. */
export function html(parts: TemplateStringsArray, ...values: readonly Value[]): Html {
  return { html: String.raw({ raw: parts }, ...values.map(written)) };
}

function written(value: Value): string {
  if (typeof value === 'string' || typeof value === 'number') {
    return escapeHtml(String(value));
  }
  return 'html' in value ? value.html : value.map(({ html: text }) => text).join('');
}
