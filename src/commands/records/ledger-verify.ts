import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type pg from 'pg';
import { z } from 'zod';
import { recordRestore } from '../../audit/ledger/chains.ts';
import type { CopiedHead } from '../../audit/ledger/entry.ts';
import { chainsWithoutHead, type LedgerFilter, readChain, readHeads } from '../../audit/ledger/read-ledger.ts';
import { type ChainState, type Retention, verifyChain } from '../../audit/ledger/verify.ts';
import { reasonOf, UsageError } from '../failures.ts';
import { columns, shortTime, type Terminal } from '../terminal.ts';

const copiedHead = z.object({
  chain: z.string(),
  repository: z.string(),
  position: z.number().int().positive(),
  hash: z.string(),
  recordedAt: z.iso.datetime().transform((time) => new Date(time)),
});

export async function readCopies(folder: string, path: string): Promise<readonly CopiedHead[]> {
  const copies = await parseCopies(resolve(folder, path)).catch((error: unknown) => {
    throw new UsageError(`--against: cannot read ${path}: ${reasonOf(error)}`);
  });
  if (copies.length === 0) {
    throw new UsageError(`--against: ${path} has no heads`);
  }
  return copies;
}

async function parseCopies(path: string): Promise<readonly CopiedHead[]> {
  const text = await readFile(path, 'utf8');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => copiedHead.parse(JSON.parse(line)));
}

interface Verification {
  readonly filter: LedgerFilter;
  /** Undefined: there are none. */
  readonly copies: readonly CopiedHead[] | undefined;
  readonly retention: Retention;
  /** Whether the database was restored since they were made. */
  readonly restored: boolean;
}

/** One chain after the other: they may be long. */
export async function verifyLedger(
  pool: pg.Pool,
  { filter, copies, retention, restored }: Verification,
  { stdout }: Terminal,
): Promise<0 | 1 | 2> {
  const heads = await readHeads(pool, filter);
  const named = new Map(heads.map((head) => [head.chain, head.repository]));
  const copied = (copies ?? []).filter((copy) => named.has(copy.chain) || isNamed(copy, filter));
  for (const { chain, repository } of copied) {
    named.set(chain, named.get(chain) ?? repository);
  }
  const isAll = filter.repository === undefined && filter.organisation === undefined;
  for (const chain of isAll ? await chainsWithoutHead(pool) : []) {
    named.set(chain, named.get(chain) ?? 'no repository');
  }
  const states: ChainState[] = [];
  for (const [chain, repository] of named) {
    const own = copied.filter((copy) => copy.chain === chain).toSorted((a, b) => a.position - b.position);
    const verify = async () => {
      const stored = await readChain(pool, chain);
      return { ...verifyChain(stored, own, retention), end: stored.head?.position ?? 0, left: stored.rows.length };
    };
    let state = await verify();
    const newest = own.at(-1);
    if (restored && newest !== undefined && state.fault?.problem === 'removed' && state.fault.position > state.end) {
      await recordRestore(pool, newest);
      state = await verify();
    }
    const isUncopied = copies !== undefined && own.length === 0;
    const found = `${describe(state)}${isUncopied ? ', but no copy has it' : ''}`;
    stdout.write(columns([[repository, `chain ${chain}`, `${state.left} entries`, found]]));
    states.push(state);
  }
  return states.some(({ fault }) => fault !== undefined) ? 1 : states.some(({ isMissed }) => isMissed) ? 2 : 0;
}

/** By the name that it had then: the one in the database may be another by now. */
function isNamed({ repository }: CopiedHead, filter: LedgerFilter): boolean {
  const name = repository.toLowerCase();
  const { repository: wanted = name, organisation: owner = name.split('/')[0] } = filter;
  return name === wanted.toLowerCase() && name.split('/')[0] === owner?.toLowerCase();
}

function describe({ fault, dropped, lost }: ChainState): string {
  if (fault !== undefined) {
    return `entry ${fault.position} was ${fault.problem}`;
  }
  const absent = [
    ...(dropped > 0 ? [`${dropped} more were dropped by retention`] : []),
    ...lost.map(
      ({ from, to, at }) => `entries ${from} to ${to} were lost in the restore of ${shortTime(new Date(at))}`,
    ),
  ];
  return absent.length === 0 ? 'complete' : `unchanged, but ${absent.join(', ')}`;
}
