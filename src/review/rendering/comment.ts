import { MAX_COMMENT_LENGTH } from '../../forges/port/postings.ts';
import { quotedList } from '../text.ts';
import type { Finding, Verdict } from '../verdict.ts';
import { renderFaults } from './faults.ts';
import { OVERRIDDEN, UNDECIDED, WAITING } from './levels.ts';
import type { Links } from './links.ts';
import { codeInCell, markdown, markdownInCell } from './markdown.ts';
import { overriddenRow, renderOverrides } from './overrides.ts';
import { OWNERS_COLUMNS, ownersFaults, ownersOf, ownersRow } from './owners.ts';
import { AUTHOR_COLUMNS, authorRow, WAITING_COLUMNS, waitingRow } from './rows.ts';
import { renderRules } from './rules.ts';

/** How the one comment on a pull request is found again. Nothing from outside can write it: see markdown.ts. */
export const REVIEW_MARKER = '<!-- gatehouse:review -->';

const NOT_ENFORCED =
  '**Not enforced:** the commit status is `success` all the same, because Gatehouse’s operator has set `ENFORCE=false`.';

const AGAIN = 'Gatehouse reviews again after every push, edit, label and review.';

const COULD_NOT_JUDGE =
  'Show this comment to the people who run Gatehouse or maintain the policy. Once they have fixed it, comment `/gatehouse recheck`. If the change is too large to judge, split it instead.';

const USED_UP =
  '**Push a new commit:** this one has nearly as many commit statuses as the forge takes. Its status no longer shows this verdict.';

/** Characters kept free below the forges' limit, for what a forge may add to a comment. */
const COMMENT_RESERVE = 5_536;
const MAX_LENGTH = MAX_COMMENT_LENGTH - COMMENT_RESERVE;
/** At most so much of it for the rules, which are folded away. */
const MAX_RULES_LENGTH = 20_000;

const MAX_OWNERS_TABLES = 5;
/** Rows of each table. */
const MAX_OWNERS_ROWS = 10;

export interface CommentContext {
  readonly links: Links;
  /** False: the status is `success` whatever the verdict, and the comment says so. */
  readonly enforce: boolean;
  /** The commit takes no more statuses. */
  readonly isUsedUp?: boolean;
}

/** The one comment, kept up to date in place. The same verdict always gives the same text. */
export function renderReview(verdict: Verdict, { links, enforce, isUsedUp }: CommentContext): string {
  const findings = verdict.findings.filter(({ override }) => override === undefined);
  const overridden = verdict.findings.flatMap(overriddenRow);
  const own = rowsOf(findings.map((finding) => authorRow(finding, links)));
  const waiting = rowsOf(findings.map((finding) => waitingRow(finding, links)));

  const end = [
    ...(findings.some(({ outcome }) => outcome === 'undecided') ? [COULD_NOT_JUDGE] : []),
    ...renderOverrides(verdict.overrides),
    ...renderUnseen(verdict),
    ...renderRules(verdict, links, MAX_RULES_LENGTH),
    ...(verdict.state === 'success' ? [] : [AGAIN]),
  ];
  const middle = renderFaults(verdict);
  const notEnforced = enforce || verdict.state === 'success' ? [] : [NOT_ENFORCED];
  const start = [REVIEW_MARKER, headline(verdict), ...notEnforced, ...(isUsedUp ? [USED_UP] : [])];
  const budget = { left: MAX_LENGTH - [...start, ...middle, ...end].join('\n\n').length };
  const tables = [
    ...table(AUTHOR_COLUMNS, own, budget),
    ...table(WAITING_COLUMNS, waiting, budget),
    ...table(['', 'Overridden', 'By and why'], overridden, budget),
    ...ownersTables(findings, links, budget),
  ];
  return `${[...start, ...tables, ...middle, ...end].join('\n\n')}\n`;
}

const SHA_SHOWN = 10;
const UNSEEN_SHOWN = 3;

/** Shown beside a success too: the unknown pusher may be the one who approved. */
function renderUnseen({ unseenPushes = [] }: Verdict): readonly string[] {
  const shas = unseenPushes.map((sha) => sha.slice(0, SHA_SHOWN)).toReversed();
  return shas.length === 0
    ? []
    : [`No webhook says who pushed ${markdown(quotedList(shas, UNSEEN_SHOWN))}, so Gatehouse assumes the author did.`];
}

function headline({ state, findings: all, policyFaults, passed }: Verdict): string {
  const findings = all.filter(({ override }) => override === undefined);
  const overridden = all.length - findings.length;
  const blocking = (outcome: string) =>
    findings.filter((finding) => finding.level === 'error' && finding.outcome === outcome).length;
  switch (state) {
    case 'failure': {
      const failed = blocking('failed');
      const waiting = blocking('waiting');
      return failed > 0
        ? `### ❌ ${counted(failed, 'problem')} to fix${waiting === 0 ? '' : `, ${counted(waiting, 'rule')} waiting`}`
        : `### ❌ ${counted(policyFaults.length, 'fault')} in the proposed policy`;
    }
    case 'error':
      return findings.length === 0
        ? `### ${UNDECIDED} The policy cannot be used: ${counted(policyFaults.length, 'fault')}`
        : `### ${UNDECIDED} ${counted(blocking('undecided') || findings.length, 'rule')} could not be judged`;
    case 'pending':
      return `### ${WAITING} ${counted(blocking('waiting'), 'rule')} waiting for others`;
    case 'success': {
      if (overridden > 0) {
        return `### ${OVERRIDDEN} ${counted(overridden, 'rule')} overridden`;
      }
      if (findings.length > 0) {
        return `### ✅ All required rules are met, ${counted(findings.length, 'remark')}`;
      }
      return passed.length > 0 ? '### ✅ All rules are met' : '### ✅ None of this repository’s rules applies';
    }
  }
}

/** Which files need whom, and what is wrong with CODEOWNERS. */
function ownersTables(findings: readonly Finding[], links: Links, budget: Budget): readonly string[] {
  const tables = ownersOf(findings).slice(0, MAX_OWNERS_TABLES);
  const [files, ...columns] = OWNERS_COLUMNS;
  const faults = tables.slice(0, 1).flatMap(ownersFaults);
  return [
    ...tables.flatMap((owners) => {
      const of = tables.length === 1 ? files : `${files}, ${codeInCell(owners.ruleId)}`;
      const shown = owners.rows.slice(0, MAX_OWNERS_ROWS);
      const more = owners.rows.length - shown.length + owners.leftOut;
      const rows = shown.map((one) => row(ownersRow(one).map((cell) => markdownInCell(cell, links))));
      return table([of, ...columns], more === 0 ? rows : [...rows, row([`and ${more} more`, '', '', ''])], budget);
    }),
    ...(faults.length === 0
      ? []
      : [
          fitting(
            faults.map((fault) => `- ${markdown(fault)}`),
            budget,
          ).join('\n'),
        ]),
  ];
}

interface Budget {
  /** Characters. */
  left: number;
}

function rowsOf(rows: readonly (readonly string[] | undefined)[]): readonly string[] {
  return rows.flatMap((cells) => (cells === undefined ? [] : [row(cells)]));
}

function row(cells: readonly string[]): string {
  return `|${cells.map((cell) => (cell === '' ? ' |' : ` ${cell} |`)).join('')}`;
}

/** As many rows as fit. */
function table(columns: readonly string[], rows: readonly string[], budget: Budget): readonly string[] {
  if (rows.length === 0) {
    return [];
  }
  const head = [row(columns), `|${columns.map(() => '---|').join('')}`];
  budget.left -= head.join('\n').length;
  const shown = fitting(rows, budget);
  const more = rows.length - shown.length;
  const text = [...head, ...shown].join('\n');
  return more === 0 ? [text] : [text, `…and ${more} more, left out because this comment is full.`];
}

function fitting(lines: readonly string[], budget: Budget): readonly string[] {
  return lines.filter((line) => {
    budget.left -= line.length + 1;
    return budget.left > 0;
  });
}

function counted(amount: number, noun: string): string {
  return `${amount} ${noun}${amount === 1 ? '' : 's'}`;
}
