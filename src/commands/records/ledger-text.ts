import type { LedgerEntry } from '../../audit/ledger/entry.ts';
import { visible } from '../../review/text.ts';
import { columns, shortTime } from '../terminal.ts';

const SHA_SHOWN = 10;

/** An entry as people read it, the same in a table, as CSV and as HTML. */
export interface LedgerLine {
  readonly time: string;
  readonly repository: string;
  readonly branch: string;
  readonly commit: string;
  readonly outcome: string;
  readonly pullRequest: string;
  readonly how: string;
  /** Who merged or pushed. */
  readonly by: string;
  readonly approvedBy: string;
  readonly overriddenBy: string;
  readonly why: string;
}

const EMPTY = { pullRequest: '', how: '', by: '', approvedBy: '', overriddenBy: '', why: '' };

/** Empty for entries that only belong to the chain itself. */
function lineOf(entry: LedgerEntry): LedgerLine | undefined {
  const { recordedAt, repository } = entry;
  const common = { ...EMPTY, time: shortTime(new Date(recordedAt)), repository };
  switch (entry.kind) {
    case 'anchor':
      return undefined;
    case 'restored': {
      const why = `entries ${entry.position} to ${entry.lostUpTo} were lost`;
      return { ...common, branch: '', commit: '', outcome: 'database restored', why };
    }
    case 'started':
      return { ...common, branch: entry.branch, commit: entry.sha, outcome: 'watched from here' };
    case 'rewritten': {
      const { branch, to, from, lost, outcome, pushedBy } = entry;
      const gone = lost === null ? `what ${from} had` : lost.length === 0 ? 'nothing' : lost.join(' ');
      return { ...common, branch, commit: to, outcome, how: 'force-push', by: pushedBy ?? '', why: `lost: ${gone}` };
    }
    case 'commit': {
      const { branch, sha, outcome, why, pullRequest, pushedBy, committer } = entry;
      const verdict = pullRequest?.verdict;
      return {
        ...common,
        branch,
        commit: sha,
        outcome,
        pullRequest: pullRequest === null ? '' : `#${pullRequest.number}`,
        how: pullRequest?.method ?? 'push',
        by: pullRequest?.mergedBy ?? pushedBy ?? `committed by ${committer}`,
        approvedBy: [...new Set(verdict?.approvals.map(({ login }) => login))].join(' '),
        overriddenBy: [...new Set(verdict?.overrides.map(({ login }) => login))].join(' '),
        why: why ?? '',
      };
    }
  }
}

export function linesOf(entries: readonly LedgerEntry[]): readonly LedgerLine[] {
  return entries.flatMap((entry) => lineOf(entry) ?? []);
}

export function ledgerTable(entries: readonly LedgerEntry[]): string {
  const lines = linesOf(entries);
  return lines.length === 0
    ? ''
    : columns([
        ['TIME', 'REPOSITORY', 'BRANCH', 'COMMIT', 'OUTCOME', 'PULL', 'HOW', 'BY', 'APPROVED BY', 'WHY'],
        ...lines.map((line) => [
          line.time,
          line.repository,
          line.branch,
          line.commit.slice(0, SHA_SHOWN),
          line.outcome,
          line.pullRequest,
          line.how,
          line.by,
          line.approvedBy,
          line.why.length > 60 ? `${line.why.slice(0, 60)}…` : line.why,
        ]),
      ]);
}

const COLUMNS: readonly (keyof LedgerLine)[] = [
  ...(['time', 'repository', 'branch', 'commit', 'outcome', 'pullRequest'] as const),
  ...(['how', 'by', 'approvedBy', 'overriddenBy', 'why'] as const),
];

/** RFC 4180. */
export function ledgerCsv(entries: readonly LedgerEntry[]): string {
  const rows = linesOf(entries).map((line) => COLUMNS.map((column) => field(line[column])));
  return [COLUMNS, ...rows].map((row) => `${row.join(',')}\r\n`).join('');
}

/** A spreadsheet takes what begins with one of these for a formula. Anybody may name a branch so. */
const FORMULA = /^[=+\-@\t\r]/;

function field(value: string): string {
  const text = visible(value);
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
