import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { commentHtml } from './comment-html.ts';
import { type DiffRow, diffRows } from './diff-rows.ts';
import { type Html, html } from './html.ts';

/** A pull request at one moment, as a forge shows it to people. Its base branch requires the status. */
export interface Moment {
  /** What has happened before. */
  readonly when: string;
  readonly repository: string;
  readonly number: number;
  readonly title: string;
  readonly author: string;
  readonly head: string;
  readonly base: string;
  readonly labels: readonly string[];
  readonly status: { readonly context: string; readonly state: string; readonly description: string };
  readonly comments: readonly { readonly author: string; readonly body: string }[];
  readonly files: readonly ChangedFile[];
}

interface ChangedFile {
  readonly path: string;
  readonly before: string;
  readonly after: string;
  readonly comments: readonly { readonly author: string; readonly line: number; readonly body: string }[];
}

const STYLE = readFileSync(new URL('page.css', import.meta.url), 'utf8');
/** Nothing is loaded, run or sent: the page may contain only its own style. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

/** The whole page, in one file. It is light or dark as the reader's system is. */
export function renderPage(moments: readonly Moment[]): string {
  const [first] = moments;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${CONTENT_SECURITY_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${first === undefined ? 'No pull request' : `${first.title} #${first.number}`}</title>
<style>${{ html: STYLE }}</style>
</head>
<body>
${moments.map(momentHtml)}</body>
</html>
`.html;
}

function momentHtml(moment: Moment): Html {
  const { when, repository, number, title, author, head, base, labels, comments, files } = moment;
  return html`<section class="moment">
<p class="when">${when}</p>
<header>
<div class="repository">${repository}</div>
<h1>${title} <span>#${number}</span></h1>
<div class="about"><span class="open">Open</span>
<span><b>${author}</b> wants to merge <span class="branch">${head}</span> into <span class="branch">${base}</span></span>
${labels.map((label) => html`<span class="label">${label}</span>`)}</div>
</header>
${comments.map(commentCard)}${mergeBox(moment)}${files.map(fileCard)}</section>
`;
}

function commentCard({ author, body }: Moment['comments'][number]): Html {
  return html`<article class="card">
<div class="by">${face(author)} <b>${author}</b> commented</div>
<div class="text">${commentHtml(body)}</div>
</article>
`;
}

/** An initial in the place of a picture, which would have to be loaded. */
function face(login: string): Html {
  return html`<span class="face">${[...login][0]?.toUpperCase() ?? ''}</span>`;
}

const ICONS: Readonly<Record<string, string>> = { success: '✔', failure: '✘', error: '!', pending: '●' };

function mergeBox({ status: { context, state, description }, base }: Moment): Html {
  const known = state in ICONS ? state : 'error';
  const outcome = state === 'success' ? 'Ready to merge' : 'Merging is blocked';
  return html`<div class="card merge ${known}">
<div class="verdict"><span class="icon">${ICONS[known] ?? ''}</span> <b>${context}</b> <span class="description">${description}</span></div>
<div><span class="outcome">${outcome}</span> <span class="description">The branch ${base} requires this status.</span></div>
</div>
`;
}

function fileCard({ path, before, after, comments }: ChangedFile): Html {
  const rows = diffRows(before, after).map((row) => {
    const said = row.kind === 'head' ? [] : comments.filter(({ line }) => line === row.after);
    return html`${diffRow(row)}${said.map(inlineRow)}`;
  });
  return html`<div class="card">
<div class="path"><code>${path}</code></div>
<table class="diff">
<colgroup><col class="number"><col class="number"><col></colgroup>
${rows}</table>
</div>
`;
}

function diffRow(row: DiffRow): Html {
  if (row.kind === 'head') {
    return html`<tr class="head"><td colspan="3">${row.text}</td></tr>
`;
  }
  const { kind, before, after, text } = row;
  return html`<tr class="${kind}"><td class="number">${before ?? ''}</td><td class="number">${after ?? ''}</td><td class="line">${text}</td></tr>
`;
}

function inlineRow({ author, body }: ChangedFile['comments'][number]): Html {
  return html`<tr class="said"><td colspan="3"><div class="talk">${face(author)}<div class="text"><b>${author}</b>${commentHtml(body)}</div></div></td></tr>
`;
}
