import type pg from 'pg';
import type { Chain } from '../../audit/ledger/chains.ts';

/** A push to the branch, as its webhook says. */
export interface SeenPush {
  /** Empty where the branch was new. */
  readonly before: string;
  readonly after: string;
  /** Login. */
  readonly pusher: string | null;
}

export interface ReceivedPush extends SeenPush {
  readonly id: string;
  /** Whether the ledger has what it did. */
  readonly isInLedger: boolean;
  /** When its webhook came, and when it was noted. */
  readonly deliveredAt: Date;
  readonly receivedAt: Date;
}

export async function isWatched(pool: pg.Pool, repository: string, branch: string): Promise<boolean> {
  const { rowCount } = await pool.query(
    'SELECT FROM gatehouse.watched_branches WHERE repository = lower($1) AND branch = $2',
    [repository, branch],
  );
  return rowCount !== 0;
}

/** Those of which there is more to know than that the default branch is one. */
export async function watchedBranches(pool: pg.Pool, { chain, repository, former }: Chain): Promise<readonly string[]> {
  const { rows } = await pool.query<{ branch: string }>(
    // Those of the former names count until there are some of the present one: others may take a name that was left.
    `SELECT branch FROM gatehouse.watched_branches
      WHERE repository = lower($2)
         OR (repository = ANY ($3)
             AND NOT EXISTS (SELECT FROM gatehouse.watched_branches WHERE repository = lower($2)))
     UNION SELECT branch FROM gatehouse.ledger_branches WHERE chain = $1 ORDER BY branch`,
    [chain, repository, former.map(({ name }) => name)],
  );
  return rows.map(({ branch }) => branch);
}

export async function savePush(
  client: Pick<pg.ClientBase, 'query'>,
  chain: string,
  branch: string,
  { before, after, pusher, deliveredAt }: SeenPush & Pick<ReceivedPush, 'deliveredAt'>,
): Promise<void> {
  await client.query(
    `INSERT INTO gatehouse.pushes (chain, branch, before_sha, after_sha, pusher, delivered_at)
     VALUES ($1, $2, $3, $4, $5, $6)
     ON CONFLICT (chain, branch, before_sha, after_sha) DO UPDATE
        SET id = DEFAULT, pusher = excluded.pusher, delivered_at = excluded.delivered_at,
            received_at = excluded.received_at, in_ledger = false`,
    [chain, branch, before, after, pusher, deliveredAt],
  );
}

/** The pushes to a branch, the oldest first. */
export async function seenPushes(pool: pg.Pool, chain: string, branch: string): Promise<readonly ReceivedPush[]> {
  const { rows } = await pool.query<ReceivedPush>(
    `SELECT id, before_sha AS before, after_sha AS after, pusher, in_ledger AS "isInLedger",
            delivered_at AS "deliveredAt", received_at AS "receivedAt" FROM gatehouse.pushes
      WHERE chain = $1 AND branch = $2 ORDER BY received_at`,
    [chain, branch],
  );
  return rows;
}

export interface LedgerTip {
  readonly known: string;
  /** When it was read, by the clock of the database. */
  readonly knownAt: Date;
}

/** Up to which commit a branch is in the ledger. Undefined: it is not in it yet. */
export async function ledgerTip(pool: pg.Pool, chain: string, branch: string): Promise<LedgerTip | undefined> {
  const { rows } = await pool.query<LedgerTip>(
    'SELECT tip AS known, looked_at AS "knownAt" FROM gatehouse.ledger_branches WHERE chain = $1 AND branch = $2',
    [chain, branch],
  );
  return rows[0];
}

export async function databaseTime(pool: pg.Pool): Promise<Date> {
  const { rows } = await pool.query<{ now: Date }>('SELECT now()');
  return rows[0]?.now ?? new Date();
}

/** `lookedAt`: before the tip was read, by the clock of the database. `from`: undefined for a branch that is new. */
export interface LedgerMove {
  readonly from: LedgerTip | undefined;
  readonly to: string;
  readonly lookedAt: Date;
  /** The pushes of which the ledger then has what they did. */
  readonly pushes: readonly ReceivedPush[];
}

/**
 * False: somebody else has moved it on meanwhile, or has looked at it, and may have recorded pushes that left the tip
 * as it was. Call it in the transaction that adds the entries.
 */
export async function moveLedgerTip(
  client: pg.ClientBase,
  chain: string,
  branch: string,
  { from, to, lookedAt, pushes }: LedgerMove,
): Promise<boolean> {
  const { rowCount } =
    from === undefined
      ? await client.query(
          'INSERT INTO gatehouse.ledger_branches (chain, branch, tip, looked_at) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING',
          [chain, branch, to, lookedAt],
        )
      : await client.query(
          `UPDATE gatehouse.ledger_branches SET tip = $4, looked_at = $5, seen_sha = NULL, seen_at = NULL
            WHERE chain = $1 AND branch = $2 AND tip = $3 AND looked_at = $6`,
          [chain, branch, from.known, to, lookedAt, from.knownAt],
        );
  if (rowCount === 1 && pushes.length > 0) {
    const ids = pushes.map(({ id }) => id);
    await client.query('UPDATE gatehouse.pushes SET in_ledger = true WHERE id = ANY ($1)', [ids]);
  }
  return rowCount === 1;
}

/**
 * Until when to wait for what the forge says of commits that came without a pull request, counted from when the newest
 * of them was first seen so: it may be a merge that came long after the others. Undefined: long enough.
 */
export async function settlesAt(
  pool: pg.Pool,
  chain: string,
  branch: string,
  newest: string,
  seconds: number,
): Promise<number | undefined> {
  const { rows } = await pool.query<{ left: number }>(
    `UPDATE gatehouse.ledger_branches
        SET seen_sha = $3, seen_at = CASE WHEN seen_sha = $3 THEN seen_at ELSE now() END
      WHERE chain = $1 AND branch = $2
      RETURNING $4 - extract(epoch FROM now() - seen_at)::float8 AS left`,
    [chain, branch, newest, seconds],
  );
  const left = rows[0]?.left ?? 0;
  return left > 0 ? Date.now() + left * 1_000 : undefined;
}

/** Whether the next resync has to look at the branches of a repository of which it sees no tips. */
export async function markLedgerDue(pool: pg.Pool, repository: string, isDue: boolean): Promise<void> {
  await pool.query('UPDATE gatehouse.repositories SET ledger_due = $2 WHERE name = $1', [repository, isDue]);
}

export async function isLedgerDue(pool: pg.Pool, repository: string): Promise<boolean> {
  const { rowCount } = await pool.query('SELECT FROM gatehouse.repositories WHERE name = $1 AND ledger_due', [
    repository,
  ]);
  return rowCount !== 0;
}

/** All watched branches of the chain's repository. */
export async function markLookedAt(pool: pg.Pool, chain: string): Promise<void> {
  await pool.query('UPDATE gatehouse.ledger_chains SET forgotten_at = NULL, looked_at = now() WHERE chain = $1', [
    chain,
  ]);
}
