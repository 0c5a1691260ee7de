import { type CopiedHead, hashOf, type LedgerEntry, type LedgerRow } from './entry.ts';
import type { StoredChain } from './read-ledger.ts';

/** What a chain turned out to be. */
export interface ChainState {
  /** The first thing that is wrong with it. */
  readonly fault: ChainFault | undefined;
  /** How many entries retention has dropped: those before the first that is left. */
  readonly dropped: number;
  /** What was lost where the database was restored from a backup, as the chain says. */
  readonly lost: readonly LostEntries[];
  /** Whether a copy is of such an entry: nothing proves what came instead. */
  readonly isMissed: boolean;
}

/** `position` is that of the entry concerned. */
export interface ChainFault {
  readonly position: number;
  readonly problem: 'changed' | 'removed' | 'inserted';
}

export interface LostEntries {
  readonly from: number;
  readonly to: number;
  /** When the chain got to know. */
  readonly at: string;
}

/** By what retention drops. */
export interface Retention {
  readonly days: number;
  readonly now: Date;
}

/** What was kept of a head outside the database. */
type Copy = Omit<CopiedHead, 'chain' | 'repository'>;

/**
 * Whether a chain has all that it ever had, except what retention drops. Its hashes prove that nobody changed it by
 * mistake. `copies` of its head prove that nobody computed all of them anew: a row with the hash of a copy proves every
 * row before it.
 */
export function verifyChain({ rows, head }: StoredChain, copies: readonly Copy[], retention: Retention): ChainState {
  const dropped = (rows[0]?.position ?? 1) - 1;
  const broken = brokenLink(rows);
  if (broken !== undefined) {
    return { fault: broken, dropped, lost: [], isMissed: false };
  }
  const entries = rows.flatMap((row) => entryOf(row) ?? []);
  const isThere = ({ position, hash, recordedAt }: Copy) =>
    position > dropped
      ? rows[position - dropped - 1]?.hash === hash
      : isOver(recordedAt, retention) && (position < dropped || hash === entries[0]?.previous);
  const absent = copies.filter((copy) => !isThere(copy)).toSorted((a, b) => a.position - b.position);
  const restores = entries.filter((entry) => entry.kind === 'restored');
  const isLost = (copy: Copy) => restores.some((restore) => hasLost(restore, copy));
  const unexplained = absent.find((copy) => !isLost(copy));
  return {
    fault:
      wrongBeginning(entries, retention) ??
      (unexplained && faultOf(unexplained, dropped, rows.length)) ??
      wrongEnd(rows.at(-1), head),
    dropped,
    lost: restores.map(({ position, lostUpTo, recordedAt }) => ({ from: position, to: lostUpTo, at: recordedAt })),
    isMissed: absent.some(isLost),
  };
}

/** A copy that was made after the restore is of what came then. */
function hasLost(restore: LedgerEntry & { readonly kind: 'restored' }, { position, hash, recordedAt }: Copy): boolean {
  const isLast = position === restore.lostUpTo && hash === restore.hash;
  return (
    position >= restore.position &&
    (position < restore.lostUpTo || isLast) &&
    recordedAt <= new Date(restore.recordedAt)
  );
}

/** Each row has to be whole, and made for the one before it. */
function brokenLink(rows: readonly LedgerRow[]): ChainFault | undefined {
  let before: LedgerRow | undefined;
  for (const row of rows) {
    const { position } = row;
    const expected = before === undefined ? position : before.position + 1;
    if (position !== expected) {
      return { position: Math.min(position, expected), problem: position < expected ? 'inserted' : 'removed' };
    }
    const entry = entryOf(row);
    if (entry === undefined) {
      return { position, problem: 'changed' };
    }
    if (before !== undefined && entry.previous !== before.hash) {
      // Its own hash is right, and this one was made for another.
      return { position: before.position, problem: 'changed' };
    }
    before = row;
  }
  return undefined;
}

/**
 * The first entries are gone for a reason if the newest anchor says that these are dropped, and if the last of them was
 * old enough: the first one that is left tells.
 */
function wrongBeginning(entries: readonly LedgerEntry[], retention: Retention): ChainFault | undefined {
  const [first] = entries;
  if (first === undefined) {
    return undefined;
  }
  const { position, previous, previousAt } = first;
  const anchor = entries.findLast((entry) => entry.kind === 'anchor');
  const { droppedUpTo, hash } = anchor ?? { droppedUpTo: 0, hash: '' };
  if (anchor !== undefined && droppedUpTo >= position) {
    // It counts what is there.
    return { position: anchor.position, problem: 'inserted' };
  }
  const isOld = previousAt === null ? position === 1 : isOver(new Date(previousAt), retention);
  return position === droppedUpTo + 1 && previous === hash && isOld
    ? undefined
    : { position: Math.max(1, Math.min(droppedUpTo + 1, position - 1)), problem: 'removed' };
}

function faultOf({ position }: Copy, dropped: number, left: number): ChainFault {
  if (position <= dropped) {
    return { position, problem: 'removed' };
  }
  return position > dropped + left
    ? { position: dropped + left + 1, problem: 'removed' }
    : { position, problem: 'changed' };
}

/** Where the chain ends by our own table. */
function wrongEnd(row: LedgerRow | undefined, head: StoredChain['head']): ChainFault | undefined {
  const [last, end] = [row?.position ?? 0, head?.position ?? 0];
  if (last !== end) {
    return { position: Math.min(last, end) + 1, problem: last < end ? 'removed' : 'inserted' };
  }
  return row === undefined || head?.hash === row.hash ? undefined : { position: last, problem: 'changed' };
}

const DAY_MS = 24 * 60 * 60 * 1_000;
/** By so much the clock of whoever verifies may be behind that of the database. */
const SKEW_MS = DAY_MS;

/** Whether retention may have dropped what was recorded then: it drops months that ended so many days ago. */
function isOver(recordedAt: Date, { days, now }: Retention): boolean {
  return endOfMonth(recordedAt).getTime() <= now.getTime() - days * DAY_MS + SKEW_MS;
}

function endOfMonth(time: Date): Date {
  return new Date(Date.UTC(time.getUTCFullYear(), time.getUTCMonth() + 1));
}

/** What a row says. Undefined: it is not what was written there. */
function entryOf(row: LedgerRow): LedgerEntry | undefined {
  if (hashOf(row.text) !== row.hash) {
    return undefined;
  }
  try {
    const entry = JSON.parse(row.text) as LedgerEntry;
    const { chain, position, recordedAt } = entry;
    const isOwn = chain === row.chain && position === row.position && recordedAt === row.recordedAt.toISOString();
    return isOwn ? entry : undefined;
  } catch {
    return undefined;
  }
}
