import { awaitedIn, obstacleOf, type PredicateReason, type Reason } from '../evaluation/reasons.ts';
import type { Finding } from '../verdict.ts';
import { AS_IF_READY, iconOf, WAITING } from './levels.ts';
import type { Links } from './links.ts';
import { codeInCell, link, markdownInCell, proseInCell } from './markdown.ts';

/** Characters of one row: the first of them must not crowd out the others. */
const MAX_ROW_LENGTH = 8_000;
const MAX_REASONS_SHOWN = 20;
/** Lines that a row links to, the first of them without a click, and the characters of these links. */
const MAX_LINES_SHOWN = 5;
const MAX_LINES_LINKED = 50;
const MAX_LINES_LENGTH = 7_000;
const MAX_PATH_SHOWN = 200;

/** What the author has to do, or who has to act is unknown; undefined when all of it is up to others. */
export function authorRow(finding: Finding, links: Links): string | undefined {
  const reasons = finding.reasons.filter((reason) => obstacleOf([reason]) !== 'others');
  if (reasons.length === 0) {
    return undefined;
  }
  const state = fitting(reasons.map((reason) => stateOf(reason, finding, links)));
  return row(
    iconOf(finding),
    [whatOf(finding), ...(finding.outcome === 'undecided' ? ['could not be judged'] : []), ...onceReady(finding)],
    state,
  );
}

/** What is waited for, with the ways that the author has instead; undefined when nothing is. */
export function waitingRow(finding: Finding, links: Links): string | undefined {
  const reasons = finding.reasons.filter((reason) => obstacleOf([reason]) === 'others');
  if (reasons.length === 0) {
    return undefined;
  }
  const what = [
    ...(finding.message === undefined ? [] : [proseInCell(finding.message)]),
    ...reasons.slice(0, MAX_REASONS_SHOWN).map((reason) => awaited(reason, links)),
    ...onceReady(finding),
  ];
  const found = othersReasons(reasons).map((reason) => markdownInCell(reason.found, links));
  return row(finding.level === 'error' ? WAITING : iconOf(finding), fitting(what), fitting([...new Set(found)]));
}

function awaited(reason: Reason, links: Links): string {
  if (reason.kind === 'predicate') {
    return markdownInCell(awaitedIn([reason]), links);
  }
  return reason.ways
    .map((way) =>
      obstacleOf(way) === 'others'
        ? markdownInCell(awaitedIn(way), links)
        : `for you: ${way.map((part) => wantedOf(part, links)).join(' and ')}`,
    )
    .join('<br>or ');
}

function othersReasons(reasons: readonly Reason[]): readonly PredicateReason[] {
  return reasons.flatMap((reason) => {
    if (reason.kind === 'one-of') {
      return othersReasons(reason.ways.filter((way) => obstacleOf(way) === 'others').flat());
    }
    return [reason];
  });
}

function wantedOf(reason: Reason, links: Links): string {
  if (reason.kind === 'one-of') {
    return reason.ways.map((way) => way.map((part) => wantedOf(part, links)).join(' and ')).join(' or ');
  }
  return markdownInCell(reason.wanted ? reason.expected : reason.fix, links);
}

/** Found → wanted. */
function stateOf(reason: Reason, finding: Finding, links: Links): string {
  if (reason.kind === 'one-of') {
    return reason.ways.map((way) => way.map((part) => stateOf(part, finding, links)).join(' and ')).join('<br>or: ');
  }
  const found = markdownInCell(reason.found, links);
  if (reason.inWhen) {
    return found;
  }
  if (reason.wanted) {
    return `${found} → ${withExample(reason, finding, links)}`;
  }
  const lines = linesOf(reason, links);
  if (finding.message === undefined) {
    return [`${found} → ${markdownInCell(reason.fix, links)}`, ...lines].join('<br>');
  }
  // The message says what to do, in better words.
  return lines.length === 0 ? found : lines.join('<br>');
}

function withExample(reason: PredicateReason, { example, reasons }: Finding, links: Links): string {
  const hasPattern = reason.expected.some((piece) => typeof piece !== 'string' && 'patterns' in piece);
  const expected = markdownInCell(reason.expected, links);
  if (example === undefined || !(hasPattern || reason === reasons[0])) {
    return expected;
  }
  return hasPattern ? `such as ${codeInCell(example)}` : `${expected}, such as ${codeInCell(example)}`;
}

/** Where it was found: the first lines, and the others folded away. */
function linesOf({ locations }: PredicateReason, links: Links): readonly string[] {
  const lines = locations.flatMap(({ path, line }) => (line === undefined ? [] : [{ path, line }]));
  let length = 0;
  const linked = lines.slice(0, MAX_LINES_LINKED).filter((line) => {
    length += byFile([line], links).join().length;
    return length <= MAX_LINES_LENGTH;
  });
  const shown = linked.slice(0, MAX_LINES_SHOWN);
  const more = lines.length - shown.length;
  if (more === 0) {
    return byFile(shown, links);
  }
  const left = lines.length - linked.length;
  const folded = [...byFile(linked.slice(MAX_LINES_SHOWN), links), ...(left === 0 ? [] : [`and ${left} others`])];
  return [
    `${byFile(shown, links).join('<br>')}<details><summary>${more} more ${more === 1 ? 'line' : 'lines'}</summary>${folded.join('<br>')}</details>`,
  ];
}

/** `src/a.ts` 2, 4, each number a link. */
function byFile(places: readonly { path: string; line: number }[], links: Links): readonly string[] {
  return [...Map.groupBy(places, ({ path }) => path)].map(([path, lines]) => {
    const numbers = lines.map(({ line }) => link(String(line), links.place(path, line)));
    return `${codeInCell(path, MAX_PATH_SHOWN)} ${numbers.join(', ')}`;
  });
}

function onceReady({ asIfReady }: Finding): readonly string[] {
  return asIfReady ? [AS_IF_READY] : [];
}

function whatOf({ ruleId, message }: Finding): string {
  return message === undefined ? codeInCell(ruleId) : proseInCell(message);
}

/** As many whole parts as one row may take. */
function fitting(parts: readonly string[]): readonly string[] {
  let length = 0;
  const fit = parts.slice(0, MAX_REASONS_SHOWN).findIndex((part) => {
    length += part.length;
    return length > MAX_ROW_LENGTH;
  });
  const shown = fit === -1 ? parts.slice(0, MAX_REASONS_SHOWN) : parts.slice(0, fit);
  return shown.length < parts.length ? [...shown, `and ${parts.length - shown.length} more`] : parts;
}

function row(icon: string, what: readonly string[], state: readonly string[]): string {
  return `| ${icon} | ${what.join('<br>')} | ${state.join('<br>')} |`;
}
