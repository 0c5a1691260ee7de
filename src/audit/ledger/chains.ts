import type pg from 'pg';
import { inTransaction } from '../../db/transaction.ts';
import { ensurePartitions } from '../partitions.ts';
import { type ChainHead, type CopiedHead, type LedgerContent, type LedgerRow, link } from './entry.ts';

/** A repository's chain, and what is known of the repository. */
export interface Chain {
  readonly chain: string;
  /** Its present name. */
  readonly repository: string;
  /** The names that it had before, and until when. */
  readonly former: readonly { readonly name: string; readonly until: string }[];
  /** Since when the repository was hidden from Gatehouse; null: it is not. */
  readonly forgottenAt: Date | null;
}

/**
 * Begins the chain of a repository, or goes on with it under the repository's present name. `askedAs`: the name that
 * led to it at the forge, which may be a former one.
 */
export async function openChain(
  pool: pg.Pool,
  chain: string,
  repository: string,
  askedAs: string = repository,
): Promise<Chain> {
  const { rows } = await pool.query<Chain>(
    `INSERT INTO gatehouse.ledger_chains AS c (chain, repository, former)
     VALUES ($1, $2, CASE WHEN lower($3) = lower($2) THEN '[]'
                          ELSE jsonb_build_array(jsonb_build_object('name', lower($3), 'until', now())) END)
     ON CONFLICT (chain) DO UPDATE SET
       repository = excluded.repository,
       former = CASE WHEN lower(c.repository) = lower(excluded.repository) THEN c.former
                     ELSE c.former || jsonb_build_array(jsonb_build_object('name', lower(c.repository), 'until', now())) END
     RETURNING chain, repository, former, forgotten_at AS "forgottenAt"`,
    [chain, repository, askedAs],
  );
  const [row] = rows;
  if (row === undefined) {
    throw new Error('the chain of a repository could not be read');
  }
  return row;
}

/** Adds entries to a chain, in the caller's transaction, which holds the chain until it ends. */
export async function append(
  client: pg.ClientBase,
  chain: string,
  contents: readonly LedgerContent[],
): Promise<readonly LedgerRow[]> {
  const { rows } = await client.query<ChainHead & { readonly now: Date }>(
    `SELECT chain, repository, position::int AS position, hash, recorded_at AS "recordedAt", now()
       FROM gatehouse.ledger_chains WHERE chain = $1 FOR UPDATE`,
    [chain],
  );
  let [head] = rows;
  if (head === undefined) {
    throw new Error('there is no such chain');
  }
  // Whole milliseconds, as the entry has it. Never before the last one, though the clock was set back: retention drops
  // months, and with them only the beginning of a chain.
  const recordedAt = new Date(Math.max(head.now.getTime(), head.recordedAt?.getTime() ?? 0));
  await ensurePartitions(client);
  const added: LedgerRow[] = [];
  for (const content of contents) {
    const row = link(head, content, recordedAt);
    await client.query(
      'INSERT INTO gatehouse.ledger (recorded_at, chain, position, entry, hash) VALUES ($1, $2, $3, $4, $5)',
      [recordedAt, chain, row.position, row.text, row.hash],
    );
    added.push(row);
    head = { ...head, position: row.position, hash: row.hash, recordedAt };
  }
  await client.query('UPDATE gatehouse.ledger_chains SET position = $2, hash = $3, recorded_at = $4 WHERE chain = $1', [
    chain,
    head.position,
    head.hash,
    head.recordedAt,
  ]);
  return added;
}

const TIMEOUT_MS = 30_000;

/** After the database was restored, for a chain that ends before the copy of its head: names what is lost. */
export async function recordRestore(pool: pg.Pool, copy: CopiedHead): Promise<void> {
  const { chain, repository, position: lostUpTo, hash, recordedAt } = copy;
  await inTransaction(pool, TIMEOUT_MS, async (client) => {
    await client.query(
      'INSERT INTO gatehouse.ledger_chains (chain, repository) VALUES ($1, $2) ON CONFLICT DO NOTHING',
      [chain, repository],
    );
    const { rows } = await client.query<{ now: Date }>('SELECT now()');
    if (rows[0] === undefined || rows[0].now < recordedAt) {
      throw new Error(`the clock of the database is behind the copy of ${repository}: ${recordedAt.toISOString()}`);
    }
    await append(client, chain, [{ kind: 'restored', lostUpTo, hash }]);
  });
}

/**
 * Before a month of the ledger is dropped: the chains that lose entries by it get an anchor, which says where they
 * begin from then on. `partition`: its name, of the database itself.
 */
export async function anchorChains(client: pg.ClientBase, partition: string): Promise<void> {
  const { rows } = await client.query<{ chain: string; position: number; hash: string }>(
    `SELECT DISTINCT ON (chain) chain, position::int AS position, hash FROM gatehouse.${client.escapeIdentifier(partition)}
      WHERE chain IN (SELECT chain FROM gatehouse.ledger_chains) ORDER BY chain, position DESC`,
  );
  for (const { chain, position, hash } of rows) {
    await append(client, chain, [{ kind: 'anchor', droppedUpTo: position, hash }]);
  }
}
