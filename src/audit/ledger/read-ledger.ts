import type pg from 'pg';
import type { ChainHead, LedgerEntry, LedgerRow } from './entry.ts';

/** Which chains: of one repository by any name that it had, or of all of an owner, or all. */
export interface LedgerFilter {
  readonly repository?: string | undefined;
  readonly organisation?: string | undefined;
}

const FITS = `
  ($1::text IS NULL OR lower(c.repository) = lower($1) OR c.former @> jsonb_build_array(jsonb_build_object('name', lower($1))))
  AND ($2::text IS NULL OR lower(split_part(c.repository, '/', 1)) = lower($2))`;

function valuesOf({ repository, organisation }: LedgerFilter): readonly unknown[] {
  return [repository ?? null, organisation ?? null];
}

/** What was recorded since then, oldest first. */
export async function readLedger(pool: pg.Pool, filter: LedgerFilter, since: Date): Promise<readonly LedgerEntry[]> {
  const { rows } = await pool.query<{ entry: string }>(
    `SELECT l.entry FROM gatehouse.ledger_chains c JOIN gatehouse.ledger l ON l.chain = c.chain
      WHERE ${FITS} AND l.recorded_at >= $3 ORDER BY l.recorded_at, l.chain, l.position`,
    [...valuesOf(filter), since],
  );
  return rows.map(({ entry }) => JSON.parse(entry) as LedgerEntry);
}

/** Where the chains end by our own table. */
export async function readHeads(pool: pg.Pool, filter: LedgerFilter): Promise<readonly ChainHead[]> {
  const { rows } = await pool.query<ChainHead>(
    `SELECT c.chain, c.repository, c.position::int AS position, c.hash, c.recorded_at AS "recordedAt"
       FROM gatehouse.ledger_chains c
      WHERE c.position > 0 AND ${FITS} ORDER BY lower(c.repository), c.chain`,
    [...valuesOf(filter)],
  );
  return rows;
}

/** Chains that have entries and no end: somebody has removed it. */
export async function chainsWithoutHead(pool: pg.Pool): Promise<readonly string[]> {
  const { rows } = await pool.query<{ chain: string }>(
    `SELECT DISTINCT chain FROM gatehouse.ledger l
      WHERE NOT EXISTS (SELECT FROM gatehouse.ledger_chains c WHERE c.chain = l.chain) ORDER BY chain`,
  );
  return rows.map(({ chain }) => chain);
}

/** A chain as the tables have it at one moment. */
export interface StoredChain {
  /** All that is left of it, by position. */
  readonly rows: readonly LedgerRow[];
  /** Where it ends by our own table. Undefined: there is no such chain. */
  readonly head: Pick<ChainHead, 'position' | 'hash'> | undefined;
}

/** All of a row of the ledger is null where there is none. */
type StoredRow = { readonly endsAt: number | null; readonly endsWith: string | null } & (
  | LedgerRow
  | { readonly position: null }
);

/** One statement: what is added or dropped between two would look like a fault. */
export async function readChain(pool: pg.Pool, chain: string): Promise<StoredChain> {
  const { rows } = await pool.query<StoredRow>(
    `SELECT c.position::int AS "endsAt", c.hash AS "endsWith",
            $1 AS chain, l.position::int AS position, l.recorded_at AS "recordedAt", l.entry AS text, l.hash
       FROM (SELECT $1::text AS chain) AS asked
       LEFT JOIN gatehouse.ledger_chains c USING (chain) LEFT JOIN gatehouse.ledger l USING (chain)
      ORDER BY l.position, l.recorded_at`,
    [chain],
  );
  const [first] = rows;
  return {
    rows: rows.filter((row) => row.position !== null),
    head: first?.endsAt == null ? undefined : { position: first.endsAt, hash: first.endsWith ?? '' },
  };
}

/** Entries that are looked through, the newest of a chain. */
const LAST_ENTRIES = 1_000;

/** Whether the chain says already that a force-push took this tip away. */
export async function namesRewrite(pool: pg.Pool, chain: string, from: string): Promise<boolean> {
  const { rowCount } = await pool.query(
    `SELECT FROM gatehouse.ledger l JOIN gatehouse.ledger_chains c USING (chain)
      WHERE l.chain = $1 AND l.position > c.position - $2 AND strpos(l.entry, $3) > 0 LIMIT 1`,
    [chain, LAST_ENTRIES, `"from":"${from}"`],
  );
  return rowCount !== 0;
}
