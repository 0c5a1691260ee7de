import test from 'ava';
import {
  type CopiedHead,
  hashOf,
  type LedgerContent,
  type LedgerEntry,
  type LedgerRow,
  link,
} from '../../../src/audit/ledger/entry.ts';
import { verifyChain } from '../../../src/audit/ledger/verify.ts';
import { randomOf, SEED } from '../../simulated-forge/api/seed.ts';

const LIVES = 150;
const ATTACKS = 20;
const DAY_MS = 24 * 60 * 60_000;
const DAYS = 60;
const CHAIN = '7';
const REPOSITORY = 'acme/widgets';
const EMPTY: CopiedHead | Head = { chain: CHAIN, repository: REPOSITORY, position: 0, hash: '', recordedAt: null };

type Head = Omit<CopiedHead, 'recordedAt'> & { readonly recordedAt: Date | null };
type Random = () => number;

/** A chain, whose beginning retention may have dropped, and the copies that are kept of its heads. */
interface Life {
  readonly now: Date;
  readonly rows: readonly LedgerRow[];
  readonly copies: readonly CopiedHead[];
}

const START: Life = { now: new Date('2026-01-15T00:00:00Z'), rows: [], copies: [] };

const below = (random: Random, end: number) => Math.floor(random() * end);
const oneOf = <T>(random: Random, values: readonly T[]): T | undefined => values[below(random, values.length)];

const content = (sha: string, outcome: 'passed' | 'direct' = 'direct'): LedgerContent => ({
  kind: 'commit',
  branch: 'main',
  sha,
  parent: null,
  outcome,
  why: null,
  pullRequest: null,
  pushedBy: null,
  committer: 'alice',
});

function headOf(rows: readonly LedgerRow[]): Head {
  const last = rows.at(-1);
  return last === undefined
    ? EMPTY
    : { ...EMPTY, position: last.position, hash: last.hash, recordedAt: last.recordedAt };
}

const added = (rows: readonly LedgerRow[], one: LedgerContent, now: Date): readonly LedgerRow[] => [
  ...rows,
  link(headOf(rows), one, now),
];

const monthOf = (time: Date): string => time.toISOString().slice(0, 7);
const endOfMonth = (time: Date): number => Date.UTC(time.getUTCFullYear(), time.getUTCMonth() + 1);
const isOver = (time: Date, now: Date, days: number): boolean => endOfMonth(time) <= now.getTime() - days * DAY_MS;

/** As src/audit/drop-partitions.ts does it: month by month, the oldest first. */
function retained({ now, rows, copies }: Life): Life {
  let left = rows;
  for (const month of new Set(rows.map(({ recordedAt }) => monthOf(recordedAt)))) {
    const gone = left.filter(({ recordedAt }) => monthOf(recordedAt) === month).at(-1);
    if (gone !== undefined && isOver(gone.recordedAt, now, DAYS)) {
      const anchored = added(left, { kind: 'anchor', droppedUpTo: gone.position, hash: gone.hash }, now);
      left = anchored.filter(({ position }) => position > gone.position);
    }
  }
  return { now, rows: left, copies };
}

function copied({ now, rows, copies }: Life): Life {
  const head = headOf(rows);
  return head.recordedAt === null
    ? { now, rows, copies }
    : { now, rows, copies: [...copies, { ...head, recordedAt: head.recordedAt }] };
}

/** From a backup, with the entry that names what is lost since; the same life where the copies name nothing more. */
function restored({ now, rows, copies }: Life, backup: readonly LedgerRow[]): Life {
  const newest = copies.at(-1);
  return newest === undefined || newest.position <= headOf(backup).position
    ? { now, rows, copies }
    : { now, rows: added(backup, { kind: 'restored', lostUpTo: newest.position, hash: newest.hash }, now), copies };
}

function step(random: Random, life: Life): Life {
  const { now, rows } = life;
  const kind = below(random, 10);
  if (kind < 3) {
    return { ...life, now: new Date(now.getTime() + below(random, 25) * DAY_MS + 1) };
  }
  if (kind < 7) {
    return { ...life, rows: added(rows, content(String(random())), now) };
  }
  return kind < 9 ? copied(life) : retained(life);
}

function verified({ now, rows, copies }: Life, head: Head = headOf(rows)) {
  return verifyChain({ rows, head: head.position === 0 ? undefined : head }, copies, { days: DAYS, now });
}

test('no honest life of a chain is called a fault', (t) => {
  const counts = { dropped: 0, restores: 0 };
  for (let seed = SEED; seed < SEED + LIVES; seed += 1) {
    const random = randomOf(seed);
    let life = START;
    let backup = life.rows;
    for (let steps = 0; steps < 80; steps += 1) {
      life = step(random, life);
      const { fault, dropped, isMissed } = verified(life);
      t.is(fault, undefined, `seed ${seed}: ${JSON.stringify(fault)}`);
      t.false(isMissed);
      t.is(dropped, (life.rows[0]?.position ?? 1) - 1);
      counts.dropped += dropped > 0 ? 1 : 0;
      backup = below(random, 10) === 0 ? life.rows : backup;
      if (below(random, 20) === 0) {
        const after = restored(life, backup);
        const state = verified(after);
        t.is(state.fault, undefined, `seed ${seed}: ${JSON.stringify(state.fault)}`);
        t.is(state.isMissed, after.rows !== life.rows);
        counts.restores += state.isMissed ? 1 : 0;
        // Whoever has seen that makes new copies, and keeps those that still hold.
        const kept = life.copies.filter(({ position }) => position < headOf(after.rows).position);
        life = state.isMissed ? copied({ ...after, copies: kept }) : life;
      }
    }
  }
  t.true(counts.dropped > 100 && counts.restores > 100, JSON.stringify(counts));
});

type Tampering = (random: Random, rows: readonly LedgerRow[], life: Life) => readonly LedgerRow[];

/** What an owner of the database could do. */
const TAMPERINGS: readonly Tampering[] = [
  (random, rows) => edited(rows, below(random, rows.length), (row) => row.hash),
  (random, rows) => edited(rows, below(random, rows.length), ({ text }) => hashOf(text)),
  (random, rows) => {
    const at = below(random, rows.length);
    return relinked(
      random,
      edited(rows, at, ({ hash }) => hash),
      at,
    );
  },
  (random, rows) => {
    const at = below(random, rows.length);
    return relinked(random, rows.toSpliced(at, 1 + below(random, 4)), at);
  },
  (random, rows) => {
    const [from, to] = [below(random, rows.length), below(random, rows.length)];
    return relinked(
      random,
      rows.toSpliced(from, 1).toSpliced(to, 0, ...rows.slice(from, from + 1)),
      Math.min(from, to),
    );
  },
  (random, rows, { copies, now }) => {
    const at = below(random, rows.length + 1);
    const { position: lostUpTo = 9, hash = '' } = oneOf(random, copies) ?? {};
    const before = added(rows.slice(0, at), { kind: 'restored', lostUpTo, hash }, now);
    return relinked(random, [...before, ...rows.slice(at)], at + 1);
  },
  /** As retention would, whatever is old enough. */
  (random, rows, { now }) => {
    const at = below(random, rows.length);
    const { position: droppedUpTo = 0, hash = '' } = rows[at] ?? {};
    const left = added(rows, { kind: 'anchor', droppedUpTo, hash }, now).slice(at + 1);
    return random() < 0.5 ? left : backdated(left);
  },
  (random, rows, { now, copies }) => {
    const { position = 9, hash = '' } = oneOf(random, [...copies, ...rows]) ?? {};
    return added(rows, { kind: 'anchor', droppedUpTo: oneOf(random, [position, below(random, 99)]) ?? 0, hash }, now);
  },
];

const entryOf = ({ text }: LedgerRow): LedgerEntry => JSON.parse(text);

function edited(rows: readonly LedgerRow[], at: number, hash: (row: LedgerRow) => string): readonly LedgerRow[] {
  return rows.map((row, index) => {
    const changed = { ...row, text: row.text.replace('direct', 'passed') };
    return index === at ? { ...changed, hash: hash(changed) } : row;
  });
}

/** Mostly computes positions and hashes from there on anew. */
function relinked(random: Random, rows: readonly LedgerRow[], from: number): readonly LedgerRow[] {
  return random() < 0.2 ? rows : linkedAfter(headBefore(rows, from), rows, from, 0);
}

/** As if all of it was recorded long ago. */
const backdated = (rows: readonly LedgerRow[]) => linkedAfter(headBefore(rows, 0), rows, 0, 700 * DAY_MS);

function headBefore(rows: readonly LedgerRow[], from: number): Head {
  const [first] = rows;
  if (from > 0 || first === undefined) {
    return headOf(rows.slice(0, from));
  }
  const { previous: hash, previousAt } = entryOf(first);
  return {
    ...EMPTY,
    position: first.position - 1,
    hash,
    recordedAt: previousAt === null ? null : new Date(previousAt),
  };
}

function linkedAfter(head: Head, rows: readonly LedgerRow[], from: number, earlier: number): readonly LedgerRow[] {
  const made = rows.slice(0, from);
  let last = { ...head, recordedAt: head.recordedAt && new Date(head.recordedAt.getTime() - earlier) };
  for (const row of rows.slice(from)) {
    // What is put around it is replaced.
    const next = link(last, entryOf(row), new Date(row.recordedAt.getTime() - earlier));
    made.push(next);
    last = { ...last, position: next.position, hash: next.hash, recordedAt: next.recordedAt };
  }
  return made;
}

test('no row that a copy covers is tampered with unseen', (t) => {
  const counts = { harmless: 0, found: 0 };
  for (let seed = SEED; seed < SEED + LIVES; seed += 1) {
    const random = randomOf(seed);
    let life = START;
    for (let steps = 0; steps < 60; steps += 1) {
      life = step(random, life);
    }
    const { rows, copies, now } = life;
    const covered = Math.max(0, ...copies.map(({ position }) => position));
    const kept = rows.filter(({ position, recordedAt }) => position <= covered && !isOver(recordedAt, now, DAYS - 1));
    for (let attack = 0; attack < ATTACKS && rows.length > 0; attack += 1) {
      let forged = rows;
      for (let times = 0; times <= below(random, 3) && forged.length > 0; times += 1) {
        const tamper = oneOf(random, TAMPERINGS) ?? t.fail();
        forged = tamper(random, forged, life).toSorted((a, b) => a.position - b.position);
      }
      const head = headOf(random() < 0.9 ? forged : rows);
      const there = forged.filter(
        ({ position }) => position <= covered && position >= (kept[0]?.position ?? covered + 1),
      );
      const isHarmed = there.map(({ text }) => text).join('\n') !== kept.map(({ text }) => text).join('\n');
      const { fault, isMissed } = verified({ ...life, rows: forged }, head);
      if (isHarmed) {
        t.true(fault !== undefined || isMissed, `seed ${seed}, attack ${attack}`);
        counts.found += 1;
      } else {
        counts.harmless += 1;
      }
    }
  }
  t.true(counts.found > 1_000 && counts.harmless > 100, JSON.stringify(counts));
});

const at = (day: string): Date => new Date(`2026-${day}T00:00:00Z`);
const DROPPED = ['01-05', '01-20', '02-10'];
const ALL = [...DROPPED, '06-05', '07-01', '07-10'].reduce<readonly LedgerRow[]>(
  (rows, day) => added(rows, content(day), at(day)),
  [],
);
const NOW = at('07-20');
const copyOf = (row: LedgerRow | undefined): CopiedHead => {
  const { recordedAt, ...head } = headOf(row === undefined ? [] : [row]);
  return { ...head, recordedAt: recordedAt ?? NOW };
};
const anchored = (droppedUpTo: number, hash = ALL[droppedUpTo - 1]?.hash ?? '') =>
  added(ALL, { kind: 'anchor', droppedUpTo, hash }, NOW);
const faultOf = (rows: readonly LedgerRow[], copies: readonly CopiedHead[] = []) =>
  verified({ now: NOW, rows, copies }).fault;

test('an anchor counts if rows and copies agree, and what is gone was old', (t) => {
  t.is(faultOf(anchored(3).slice(3)), undefined);
  t.is(faultOf(anchored(3).slice(3), ALL.map(copyOf)), undefined);
  t.deepEqual(faultOf(anchored(4).slice(4)), { position: 4, problem: 'removed' }, 'its month is not over for so long');
  t.deepEqual(
    faultOf(anchored(3, 'f'.repeat(64)).slice(3)),
    { position: 3, problem: 'removed' },
    'no row has its hash',
  );
  t.deepEqual(faultOf(anchored(2).slice(3)), { position: 3, problem: 'removed' });
  t.deepEqual(faultOf(anchored(3)), { position: 7, problem: 'inserted' }, 'it counts what is there');
  t.deepEqual(faultOf(anchored(9)), { position: 7, problem: 'inserted' }, 'it counts itself');
  const other = { ...copyOf(ALL[2]), hash: 'f'.repeat(64) };
  t.deepEqual(faultOf(anchored(3).slice(3), [other]), { position: 3, problem: 'removed' });
});

test('a restore explains only the copies of what it lost', (t) => {
  const [before, lost, last] = ALL.slice(3).map(copyOf);
  if (before === undefined || lost === undefined || last === undefined) {
    return t.fail();
  }
  const restore = { kind: 'restored', lostUpTo: last.position, hash: last.hash } as const;
  const rows = added(added(ALL.slice(0, 4), restore, NOW), content('after'), NOW);
  const state = verified({ now: NOW, rows, copies: [before, lost, last] });
  t.deepEqual(state, {
    fault: undefined,
    dropped: 0,
    lost: [{ from: 5, to: 6, at: NOW.toISOString() }],
    isMissed: true,
  });
  t.false(verified({ now: NOW, rows, copies: [before, copyOf(rows[5])] }).isMissed, 'new copies are of what is there');
  const hash = 'f'.repeat(64);
  t.deepEqual(faultOf(rows, [{ ...before, hash }]), { position: 4, problem: 'changed' });
  t.deepEqual(faultOf(rows, [{ ...last, hash }]), { position: 6, problem: 'changed' });
  t.deepEqual(faultOf(rows, [{ ...last, position: 7 }]), { position: 7, problem: 'removed' });
  const later = new Date(NOW.getTime() + 1);
  t.deepEqual(faultOf(rows, [{ ...lost, recordedAt: later }]), { position: 5, problem: 'changed' });
});
