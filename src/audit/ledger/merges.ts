import type { LedgerContent, Outcome } from './entry.ts';

type Shown = LedgerContent & { readonly kind: 'commit' | 'rewritten' };

/** Entries that have an outcome. A pull request counts once, however many commits it brought: by the last of them. */
export function mergesIn<Entry extends LedgerContent>(entries: readonly Entry[]): readonly (Entry & Shown)[] {
  const lastOf = new Map<string, Entry>();
  for (const entry of entries) {
    lastOf.set(pullRequestOf(entry), entry);
  }
  return entries.filter((entry): entry is Entry & Shown => {
    if (entry.kind !== 'commit') {
      return entry.kind === 'rewritten';
    }
    return entry.pullRequest === null || lastOf.get(pullRequestOf(entry)) === entry;
  });
}

/** A key by repository and branch; '' where no pull request brought the entry. */
function pullRequestOf(entry: LedgerContent & { readonly chain?: string }): string {
  return entry.kind === 'commit' && entry.pullRequest !== null
    ? `${entry.chain ?? ''}/${entry.pullRequest.number}@${entry.branch}`
    : '';
}

export function countOutcomes(entries: readonly LedgerContent[]): ReadonlyMap<Outcome, number> {
  const counts = new Map<Outcome, number>();
  for (const { outcome } of mergesIn(entries)) {
    counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  }
  return counts;
}
