import { obstacleOf, type PredicateReason, type Reason } from '../evaluation/reasons.ts';
import { capitalised, type Text } from '../text.ts';
import type { Finding } from '../verdict.ts';
import { fittingCount } from './fit.ts';
import { AS_IF_READY, iconOf, NOT_BLOCKING, WAITING } from './levels.ts';
import type { Links } from './links.ts';
import { codeInCell, link, markdownInCell, proseInCell } from './markdown.ts';

export const AUTHOR_COLUMNS = ['', 'What to do', 'Found', 'Rule'] as const;
export const WAITING_COLUMNS = ['', 'Still missing', 'So far', 'Rule'] as const;

/** Characters of a cell: the first of the rows must not crowd out the others. */
const MAX_STEPS_LENGTH = 4_000;
const MAX_WAYS_LENGTH = 3_000;
const MAX_FOUND_LENGTH = 8_000;
const MAX_REASONS_SHOWN = 20;
/** Lines that a row links to, the first of them without a click, and the characters of these links. */
const MAX_LINES_SHOWN = 5;
const MAX_LINES_LINKED = 50;
const MAX_LINES_LENGTH = 7_000;
const MAX_PATH_SHOWN = 200;

/** What the author has to do, or what could not be judged; undefined when all of it is up to others. */
export function authorRow(finding: Finding, links: Links): readonly string[] | undefined {
  const reasons = finding.reasons.filter((reason) => obstacleOf([reason]) !== 'others');
  if (reasons.length === 0) {
    return undefined;
  }
  return cells(
    iconOf(finding),
    stepsOf(reasons, finding, links),
    predicatesIn(reasons).flatMap((reason) => [sentence(reason.found, links), ...linesOf(reason, links)]),
    finding,
  );
}

/** What others have to do, and how the author gets it; undefined when nothing is. */
export function waitingRow(finding: Finding, links: Links): readonly string[] | undefined {
  const reasons = finding.reasons.filter((reason) => obstacleOf([reason]) === 'others');
  if (reasons.length === 0) {
    return undefined;
  }
  return cells(
    finding.level === 'error' ? WAITING : iconOf(finding),
    stepsOf(reasons, finding, links),
    othersReasons(reasons).map((reason) => sentence(reason.found, links)),
    finding,
  );
}

const OR = '<br>*or:* ';

/** The steps of a cell. Those that only matter if the rule applies come after what says so. */
function stepsOf(reasons: readonly Reason[], finding: Finding, links: Links): readonly string[] {
  const isInWhen = (reason: Reason) => reason.kind === 'predicate' && reason.inWhen === true;
  const certain = !reasons.some(isInWhen);
  const once = finding.asIfReady ? [`${sentence([AS_IF_READY], links)}:`] : [];
  return [
    ...once,
    ...reasons.map((reason) => {
      const step = reasons.length === 1 ? toDo(reason, finding, links) : inParentheses(reason, finding, links);
      return certain || isInWhen(reason) ? step : `If it does: ${step}`;
    }),
  ];
}

function toDo(reason: Reason, finding: Finding, links: Links): string {
  if (reason.kind === 'one-of') {
    const ways = reason.ways.map((way) => way.map((part) => inParentheses(part, finding, links)).join(' '));
    const shown = ways.slice(0, fittingCount(ways, MAX_WAYS_LENGTH));
    const more = ways.length - shown.length;
    return [...shown, ...(more === 0 ? [] : [`${more} other ${more === 1 ? 'way' : 'ways'}`])].join(OR);
  }
  const expected = markdownInCell(reason.expected, links);
  if (reason.inWhen) {
    return reason.undecided
      ? `Gatehouse couldn’t check whether this rule applies: ${expected}.`
      : `Whether this rule applies isn’t known yet. It depends on this: ${expected}.`;
  }
  return reason.undecided
    ? `Gatehouse couldn’t check this: ${expected}.`
    : `${markdownInCell(reason.fix, links)}${exampleFor(reason, finding)}`;
}

/** A choice beside other steps must not read as if it ended with them. */
function inParentheses(part: Reason, finding: Finding, links: Links): string {
  const step = toDo(part, finding, links);
  return part.kind === 'one-of' ? `(${step.replaceAll(OR, ' *or:* ')})` : step;
}

/** What an example of a policy's author can be of. */
const TEXTS: readonly string[] = ['title', 'body', 'branch', 'base', 'commits', 'added_lines'];

function exampleFor(reason: PredicateReason, { example, reasons }: Finding): string {
  const first = predicatesIn(reasons).find(
    ({ predicate, wanted, inWhen }) => wanted && !inWhen && TEXTS.includes(predicate),
  );
  return example === undefined || reason !== first ? '' : ` For example: ${codeInCell(example)}.`;
}

function sentence(text: Text, links: Links): string {
  return markdownInCell(capitalised(text), links);
}

function predicatesIn(reasons: readonly Reason[]): readonly PredicateReason[] {
  return reasons.flatMap((reason) => (reason.kind === 'one-of' ? predicatesIn(reason.ways.flat()) : [reason]));
}

function othersReasons(reasons: readonly Reason[]): readonly PredicateReason[] {
  return reasons.flatMap((reason) => {
    if (reason.kind === 'one-of') {
      return othersReasons(reason.ways.filter((way) => obstacleOf(way) === 'others').flat());
    }
    return [reason];
  });
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

/** As many whole parts as a cell may take, each once. */
function cellOf(parts: readonly string[], maxLength: number): string {
  const different = [...new Set(parts)];
  const shown = different.slice(0, fittingCount(different.slice(0, MAX_REASONS_SHOWN), maxLength));
  const more = different.length - shown.length;
  return [...shown, ...(more === 0 ? [] : [shown.length === 0 ? 'Too much to show here' : `and ${more} more`])].join(
    '<br>',
  );
}

function cells(icon: string, steps: readonly string[], found: readonly string[], finding: Finding): readonly string[] {
  const { ruleId, message, level, outcome } = finding;
  const rule = [
    codeInCell(ruleId),
    ...(message === undefined ? [] : [proseInCell(message)]),
    ...(level === 'error' || outcome === 'undecided' ? [] : [NOT_BLOCKING]),
  ].join('<br>');
  return [icon, cellOf(steps, MAX_STEPS_LENGTH), cellOf(found, MAX_FOUND_LENGTH), rule];
}
