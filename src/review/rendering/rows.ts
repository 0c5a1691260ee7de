import { awaitedIn, obstacleOf, type Reason } from '../evaluation/reasons.ts';
import type { Finding } from '../evaluation/verdict.ts';
import { evidence } from './inline.ts';
import { AS_IF_READY, iconOf, WAITING } from './levels.ts';
import type { Links } from './links.ts';
import { codeInCell, link, markdownInCell, proseInCell } from './markdown.ts';

/** Characters of one row: the first of them must not crowd out the others. */
const MAX_ROW_LENGTH = 8_000;
const MAX_LOCATIONS_SHOWN = 10;
const MAX_REASONS_SHOWN = 20;
const MAX_PATH_SHOWN = 200;

type PredicateReason = Extract<Reason, { kind: 'predicate' }>;

/** What a finding's rows are made from. */
export interface RowContext {
  readonly links: Links;
  /** Fingerprints of the places that have a comment of their own. */
  readonly commented: ReadonlySet<string>;
}

/** What the author has to do, or nobody knows; undefined when all of it is said at lines, or is up to others. */
export function authorRow(finding: Finding, context: RowContext): string | undefined {
  const reasons = finding.reasons.filter(
    (reason) => obstacleOf([reason]) !== 'others' && !isCommented(reason, finding, context),
  );
  if (reasons.length === 0) {
    return undefined;
  }
  const state = fitting(reasons.map((reason) => stateOf(reason, finding, context)));
  return row(
    iconOf(finding),
    [whatOf(finding), ...(finding.outcome === 'undecided' ? ['could not be judged'] : []), ...onceReady(finding)],
    state,
  );
}

/** What is waited for, with the ways that the author has instead; undefined when nothing is. */
export function waitingRow(finding: Finding, { links }: RowContext): string | undefined {
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
function stateOf(reason: Reason, finding: Finding, context: RowContext): string {
  if (reason.kind === 'one-of') {
    return reason.ways.map((way) => way.map((part) => stateOf(part, finding, context)).join(' and ')).join('<br>or: ');
  }
  const found = markdownInCell(reason.found, context.links);
  if (reason.wanted) {
    return `${found} → ${withExample(reason, finding, context.links)}`;
  }
  // The message says it, in better words.
  const fix = finding.message === undefined ? ` → ${markdownInCell(reason.fix, context.links)}` : '';
  return [found + fix, ...places(reason, finding, context)].join('<br>');
}

function withExample(reason: PredicateReason, { example, reasons }: Finding, links: Links): string {
  const hasPattern = reason.expected.some((piece) => typeof piece !== 'string' && 'patterns' in piece);
  const expected = markdownInCell(reason.expected, links);
  if (example === undefined || !(hasPattern || reason === reasons[0])) {
    return expected;
  }
  return hasPattern ? `such as ${codeInCell(example)}` : `${expected}, such as ${codeInCell(example)}`;
}

/** The lines that have no comment of their own. */
function places(reason: PredicateReason, finding: Finding, { links, commented }: RowContext): readonly string[] {
  const silent = reason.locations.filter(
    ({ path, line }) =>
      line !== undefined &&
      !finding.locations.some(
        (place) => place.path === path && place.line === line && commented.has(place.fingerprint),
      ),
  );
  const shown = silent.slice(0, MAX_LOCATIONS_SHOWN).map(({ path, line, text }) => {
    const where = link(codeInCell(`${path}:${line}`, MAX_PATH_SHOWN), links.place(path, line));
    return text === undefined ? where : `${where} ${codeInCell(text.trim())}`;
  });
  return silent.length > shown.length ? [...shown, `and ${silent.length - shown.length} more lines`] : shown;
}

/** Whether all that a reason points at has comments at the lines. */
function isCommented(reason: Reason, finding: Finding, context: RowContext): boolean {
  return reason.kind === 'predicate' && evidence([reason]).length > 0 && places(reason, finding, context).length === 0;
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
