import { hash } from 'node:crypto';
import type { LedgerEntry, Outcome } from '../src/audit/ledger/entry.ts';
import { ledgerPage } from '../src/commands/records/ledger-page.ts';

const DAY_MS = 24 * 60 * 60_000;
const AT = new Date('2026-03-31T09:00:00Z');
const SINCE = new Date(AT.getTime() - 90 * DAY_MS);

interface Example {
  readonly outcome: Exclude<Outcome, 'rewritten'>;
  readonly author: string;
  /** Who approved; absent: nobody. */
  readonly approver?: string;
  readonly by: string;
  readonly why?: string;
  readonly overridden?: boolean;
}

const EXAMPLES: readonly Example[] = [
  { outcome: 'passed', author: 'alice', approver: 'bob', by: 'alice' },
  { outcome: 'passed', author: 'dave', approver: 'carol', by: 'dave' },
  { outcome: 'bypassed', author: 'dave', by: 'root', why: 'the verdict was pending' },
  { outcome: 'direct', author: 'root', by: 'root' },
  { outcome: 'overridden', author: 'alice', approver: 'bob', by: 'alice', overridden: true },
];

/** The page of `gatehouse ledger --html`, as an auditor could get it. */
export function exampleLedgerPage(): string {
  const entries = EXAMPLES.map((example, index) => entryOf(example, index + 1));
  return ledgerPage(entries, { subject: 'acme/widgets', since: SINCE, at: AT });
}

function entryOf(
  { outcome, author, approver, by, why = '', overridden = false }: Example,
  position: number,
): LedgerEntry {
  const recordedAt = new Date(AT.getTime() - (EXAMPLES.length - position + 1) * 3.4 * DAY_MS).toISOString();
  const head = shaOf(position + 100);
  const verdict = {
    state: outcome === 'bypassed' ? 'pending' : 'success',
    answeredAt: recordedAt,
    enforced: true,
    approvals: approver === undefined ? [] : [{ login: approver, sha: head }],
    overrides: overridden ? [{ rule: 'small', login: 'bob' }] : [],
  };
  const pullRequest = {
    number: 140 + position,
    author,
    head,
    method: position % 3 === 0 ? 'merge' : 'squash',
    mergedBy: by,
    mergedAt: recordedAt,
    verdict,
  } as const;
  return {
    kind: 'commit',
    chain: '1',
    position,
    previous: '',
    previousAt: null,
    repository: 'acme/widgets',
    recordedAt,
    branch: 'main',
    sha: shaOf(position),
    parent: shaOf(position - 1),
    outcome,
    why: why === '' ? null : why,
    pullRequest: outcome === 'direct' ? null : pullRequest,
    pushedBy: by,
    committer: by,
  };
}

function shaOf(seed: number): string {
  return hash('sha1', String(seed), 'hex');
}
