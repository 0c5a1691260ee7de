import type { LedgerEntry } from '../../src/audit/ledger/entry.ts';
import type { Scene } from './story.ts';

export type CommitEntry = LedgerEntry & { readonly kind: 'commit' };

/** Of a scene's repository, oldest first. */
export async function ledgerEntries({ door, repository }: Scene): Promise<readonly LedgerEntry[]> {
  const { rows } = await door.database.query<{ entry: string }>(
    `SELECT entry FROM gatehouse.ledger WHERE chain = (
       SELECT chain FROM gatehouse.ledger_chains WHERE lower(repository) = lower($1)) ORDER BY position`,
    [repository],
  );
  return rows.map(({ entry }) => JSON.parse(entry));
}

export async function ledgerCommits(scene: Scene): Promise<readonly CommitEntry[]> {
  return (await ledgerEntries(scene)).filter((entry) => entry.kind === 'commit');
}

/** What each commit was, as far as a table shows it. */
export function shownCommits(entries: readonly CommitEntry[]): readonly string[] {
  return entries.map(({ outcome, pullRequest, pushedBy }) =>
    pullRequest === null
      ? `${outcome} ${pushedBy}`
      : `${outcome} #${pullRequest.number} ${pullRequest.method} ${pullRequest.mergedBy}`,
  );
}
