import { type ChainHead, hashOf, type LedgerEntry, type LedgerRow } from './entry.ts';

/** The first thing that is wrong with a chain. `position` is that of the entry concerned. */
export interface ChainFault {
  readonly position: number;
  readonly problem: 'changed' | 'removed' | 'inserted';
}

/** A head that was copied before: the entry at this position had this hash. */
export type KnownHead = Pick<ChainHead, 'position' | 'hash'>;

/**
 * Looks for the first entry that was changed, removed or inserted. `rows` are those of the chain by position, `head`
 * where it ends by our own table; undefined: there is no such chain. `known` are copies kept outside the database: only
 * they show that somebody has computed all hashes anew.
 */
export function verifyChain(
  rows: readonly LedgerRow[],
  head: ChainHead | undefined,
  known: readonly KnownHead[] = [],
): ChainFault | undefined {
  const [first] = rows;
  if (first === undefined) {
    return head === undefined || head.position === 0 ? undefined : { position: 1, problem: 'removed' };
  }
  const anchor = newestAnchor(rows);
  let expected = { position: (anchor?.droppedUpTo ?? 0) + 1, previous: anchor?.hash ?? '' };
  let before: LedgerRow | undefined;
  for (const row of rows) {
    // Retention drops whole months; what an anchor counts as dropped may be there while it runs.
    if (anchor !== undefined && row.position <= anchor.droppedUpTo) {
      continue;
    }
    if (row.position !== expected.position) {
      const problem = row.position < expected.position ? 'inserted' : 'removed';
      return { position: Math.min(row.position, expected.position), problem };
    }
    const entry = parse(row);
    if (entry === undefined || !isOwnRow(row, entry)) {
      return { position: row.position, problem: 'changed' };
    }
    if (entry.previous !== expected.previous) {
      // Its own hash is right, and this one was made for another.
      return { position: before?.position ?? row.position, problem: 'changed' };
    }
    if (known.some(({ position, hash }) => position === row.position && hash !== row.hash)) {
      return { position: row.position, problem: 'changed' };
    }
    before = row;
    expected = { position: row.position + 1, previous: row.hash };
  }
  return faultAtEnd(expected, head, known);
}

/** After the last entry. */
function faultAtEnd(
  { position, previous }: { readonly position: number; readonly previous: string },
  head: ChainHead | undefined,
  known: readonly KnownHead[],
): ChainFault | undefined {
  const last = position - 1;
  const furthest = Math.max(head?.position ?? 0, ...known.map((copy) => copy.position));
  if (furthest > last) {
    return { position, problem: 'removed' };
  }
  if (head === undefined || head.position < last) {
    return { position: (head?.position ?? 0) + 1, problem: 'inserted' };
  }
  return head.hash === previous ? undefined : { position: last, problem: 'changed' };
}

function newestAnchor(rows: readonly LedgerRow[]): (LedgerEntry & { readonly kind: 'anchor' }) | undefined {
  for (const row of rows.toReversed()) {
    const entry = parse(row);
    if (entry?.kind === 'anchor') {
      return entry;
    }
  }
  return undefined;
}

/** Undefined: the text is not that of the hash. */
function parse(row: LedgerRow): LedgerEntry | undefined {
  return hashOf(row.text) === row.hash ? entryOf(row) : undefined;
}

/** As it was written: nothing else is hashed. Undefined: it is no JSON. */
function entryOf({ text }: Pick<LedgerRow, 'text'>): LedgerEntry | undefined {
  try {
    return JSON.parse(text) as LedgerEntry;
  } catch {
    return undefined;
  }
}

function isOwnRow(row: LedgerRow, { chain, position, recordedAt }: LedgerEntry): boolean {
  return chain === row.chain && position === row.position && recordedAt === row.recordedAt.toISOString();
}
