import { type LedgerEntry, OUTCOMES } from '../../audit/ledger/entry.ts';
import { countOutcomes } from '../../audit/ledger/merges.ts';
import { escapeMarkup } from '../../common/escape-markup.ts';
import { visible } from '../../review/text.ts';
import { shortTime } from '../terminal.ts';
import { type LedgerLine, linesOf } from './ledger-text.ts';

export interface LedgerPage {
  /** What it is about: owner/name, or owner/*. */
  readonly subject: string;
  readonly since: Date;
  readonly at: Date;
}

/** What an auditor asks for first. */
const NOT_REVIEWED: readonly string[] = ['bypassed', 'direct', 'rewritten', 'unknown', 'not watched then'];

const STYLE = `
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 80rem; padding: 0 1rem; color: #1f2328; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
table { border-collapse: collapse; width: 100%; font-size: .85rem; }
th, td { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid #d1d9e0; vertical-align: top; overflow-wrap: break-word; }
td:nth-child(2), td:nth-child(4), td:last-child { min-width: 7rem; }
td:nth-child(2), td:nth-child(3), td:nth-child(4), td:last-child { overflow-wrap: anywhere; }
td:nth-child(3) { min-width: 3.5rem; } td:nth-child(4) { min-width: 10.5rem; }
th { background: #f6f8fa; }
ul { display: flex; flex-wrap: wrap; gap: .6rem; padding: 0; list-style: none; }
li { border: 1px solid #d1d9e0; border-radius: 6px; padding: .4rem .8rem; } li b { font-size: 1.2rem; display: block; }
.bad { color: #b3261e; font-weight: 600; } code { font-size: .8rem; }`;

/** One file, without scripts, and nothing that is loaded. Every value is escaped. */
export function ledgerPage(entries: readonly LedgerEntry[], { subject, since, at }: LedgerPage): string {
  const counts = countOutcomes(entries);
  const shown = linesOf(entries).toReversed();
  const unreviewed = shown
    .filter(({ outcome }) => NOT_REVIEWED.includes(outcome))
    .toSorted((a, b) => NOT_REVIEWED.indexOf(a.outcome) - NOT_REVIEWED.indexOf(b.outcome));
  const items = OUTCOMES.map((outcome) => `<li><b>${counts.get(outcome) ?? 0}</b>${escapeHtml(outcome)}</li>`);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Ledger of ${escapeHtml(subject)}</title>
<style>${STYLE}
</style>
</head>
<body>
<h1>Ledger of ${escapeHtml(subject)}</h1>
<p>What came to the watched branches from ${shortTime(since)} to ${shortTime(at)}, UTC. A pull request counts once.</p>
<ul>${items.join('')}</ul>
<h2>Not reviewed, or not known to be</h2>
${unreviewed.length === 0 ? '<p>None.</p>' : table(unreviewed)}
<h2>All entries</h2>
${shown.length === 0 ? '<p>None.</p>' : table(shown)}
</body>
</html>
`;
}

const HEADINGS = 'Time|Repository|Branch|Commit|Outcome|Pull request|How|By|Approved by|Overridden by|Why'.split('|');

function table(lines: readonly LedgerLine[]): string {
  const rows = lines.map((line) => {
    const outcome = `<td${NOT_REVIEWED.includes(line.outcome) ? ' class="bad"' : ''}>${escapeHtml(line.outcome)}</td>`;
    const cells = [line.time, line.repository, line.branch].map(cell).join('');
    const rest = [line.pullRequest, line.how, line.by, line.approvedBy, line.overriddenBy, line.why].map(cell).join('');
    return `<tr>${cells}<td><code>${escapeHtml(line.commit)}</code></td>${outcome}${rest}</tr>`;
  });
  return `<table>
<thead><tr>${HEADINGS.map((heading) => `<th>${heading}</th>`).join('')}</tr></thead>
<tbody>
${rows.join('\n')}
</tbody>
</table>`;
}

function cell(text: string): string {
  return `<td>${escapeHtml(text)}</td>`;
}

function escapeHtml(text: string): string {
  return escapeMarkup(visible(text));
}
