import { shorten } from '../../common/shorten.ts';
import type { EvaluatedCondition, EvaluatedRule, Evaluation } from '../evaluation/evaluation.ts';
import { MAX_RULE_ID_LENGTH } from '../limits.ts';
import type { OwnersTable } from '../predicates/predicate.ts';
import { plain, visible } from '../text.ts';
import type { Verdict } from '../verdict.ts';
import { AS_IF_READY } from './levels.ts';
import { OWNERS_COLUMNS, ownersFaults, ownersRow } from './owners.ts';

const MAX_LOCATIONS_SHOWN = 5;
const MAX_LINE_SHOWN = 100;
const MAX_NAME_SHOWN = 60;

const COLOURS = { green: 32, red: 31, yellow: 33, grey: 90, bold: 1 } as const;
export type Paint = (colour: keyof typeof COLOURS, text: string) => string;

export function makePaint(colours: boolean): Paint {
  return (colour, text) => (colours ? `\u001b[${COLOURS[colour]}m${text}\u001b[0m` : text);
}

const RULE_MARKS = {
  passed: ['green', '✔ passed'],
  failed: ['red', '✘ failed'],
  waiting: ['yellow', '… waiting for others'],
  undecided: ['yellow', '? undecided'],
  inactive: ['grey', '– does not apply'],
} as const;

/** Marks of rules that are only observed. */
const OBSERVED_MARKS = {
  passed: ['grey', '✔ would pass'],
  failed: ['grey', '✘ would fail'],
  waiting: ['grey', '… would wait for others'],
  undecided: ['grey', '? undecided'],
  inactive: ['grey', '– does not apply'],
} as const;

const CONDITION_MARKS = {
  matched: '● yes',
  unmatched: '○ no',
  undecided: '? undecided',
  awaited: '… awaited',
} as const;

/** The whole evaluation as a tree for a terminal. Nothing from outside reaches the terminal as a control character. */
export function explain(evaluation: Evaluation, verdict: Verdict, options: { readonly colours: boolean }): string {
  const paint = makePaint(options.colours);
  const colour = verdict.state === 'success' ? 'green' : verdict.state === 'failure' ? 'red' : 'yellow';
  const head = `${paint(colour, verdict.state)}: ${visible(verdict.description)}`;
  const overrides = explainOverrides(verdict, paint);
  return `${[head, ...overrides, ...evaluation.rules.map((rule) => explainRule(rule, paint))].join('\n\n')}\n`;
}

function explainOverrides({ overrides }: Verdict, paint: Paint): readonly string[] {
  const inForce = overrides?.inForce ?? [];
  const refused = overrides?.refused ?? [];
  const lines = [
    ...inForce.map(
      ({ ruleId, by, reason }) => `${ruleId} ${paint('yellow', 'overridden')} by ${visible(by)}: ${visible(reason)}`,
    ),
    ...refused.map(({ ruleId, author, why }) => {
      const shown = shorten(visible(ruleId), MAX_RULE_ID_LENGTH);
      return `an override of "${shown}" by ${visible(author ?? 'no one known')} ${plain(why)}`;
    }),
  ];
  return lines.length === 0 ? [] : [lines.join('\n')];
}

/** One rule with its conditions, as a tree. */
export function explainRule({ rule, outcome, when, require, forbid, asIfReady }: EvaluatedRule, paint: Paint): string {
  const [colour, mark] = (rule.level === 'observe' ? OBSERVED_MARKS : RULE_MARKS)[outcome];
  const { path, line, repository } = rule.source;
  const where = visible(`${repository === undefined ? '' : `${repository}:`}${path}:${line}`);
  const said = asIfReady ? `${mark} ${AS_IF_READY}` : mark;
  const lines = [`${paint('bold', rule.id)} (${rule.level}) ${paint(colour, said)} ${paint('grey', where)}`];
  const sections = [
    ['when', when, undefined],
    ['require', require, true],
    ['forbid', forbid, false],
  ] as const;
  const conditions = sections.flatMap(([name, condition, wanted]) =>
    condition === undefined ? [] : [{ name, condition, wanted }],
  );
  conditions.forEach(({ name, condition, wanted }, index) => {
    lines.push(...branch(`${name}: `, condition, '', index === conditions.length - 1, wanted, paint));
  });
  return lines.join('\n');
}

/** `wanted`: whether the rule needs a match; undefined in `when`. */
function branch(
  label: string,
  condition: EvaluatedCondition,
  indent: string,
  last: boolean,
  wanted: boolean | undefined,
  paint: Paint,
): string[] {
  const { outcome } = condition;
  const good = outcome === (wanted === false ? 'unmatched' : 'matched');
  const colour =
    wanted === undefined
      ? 'grey'
      : outcome === 'undecided' || outcome === 'awaited'
        ? 'yellow'
        : good
          ? 'green'
          : 'red';
  const inner = `${indent}${last ? '   ' : '│  '}`;
  const name = condition.kind === 'predicate' ? condition.name : condition.kind;
  const head = `${indent}${last ? '└─ ' : '├─ '}${label}${name} ${paint(colour, CONDITION_MARKS[outcome])}`;
  if (condition.kind !== 'predicate') {
    const parts = condition.kind === 'not' ? [condition.part] : condition.parts;
    const within = condition.kind === 'not' && wanted !== undefined ? !wanted : wanted;
    return [
      head,
      ...parts.flatMap((part, index) => branch('', part, inner, index === parts.length - 1, within, paint)),
    ];
  }
  const details = [`asked: ${plain(condition.expected)}`, `found: ${plain(condition.found)}`];
  const places = condition.locations.filter(({ line }) => line !== undefined);
  for (const { path, line, text } of places.slice(0, MAX_LOCATIONS_SHOWN)) {
    details.push(paint('grey', `${visible(path)}:${line}: ${visible(shorten((text ?? '').trim(), MAX_LINE_SHOWN))}`));
  }
  if (places.length > MAX_LOCATIONS_SHOWN) {
    details.push(paint('grey', `and ${places.length - MAX_LOCATIONS_SHOWN} more lines`));
  }
  details.push(...ownersLines(condition.owners).map((line) => paint('grey', line)));
  return [head, ...details.map((detail) => `${inner}${detail}`)];
}

/** A table with columns as wide as what is in them. */
function ownersLines(owners: OwnersTable | undefined): readonly string[] {
  if (owners === undefined) {
    return [];
  }
  const cells = owners.rows.map((row) => ownersRow(row).map((cell) => plain(cell, MAX_NAME_SHOWN)));
  const rows = cells.length === 0 ? [] : [OWNERS_COLUMNS, ...cells];
  const widths = OWNERS_COLUMNS.map((_, column) => Math.max(0, ...rows.map((row) => row[column]?.length ?? 0)));
  return [
    ...rows.map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    ),
    ...(owners.leftOut === 0 ? [] : [`and ${owners.leftOut} more`]),
    ...ownersFaults(owners).map((fault) => plain(fault)),
  ];
}
