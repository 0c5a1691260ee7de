import type pg from 'pg';
import { inTransaction } from '../db/transaction.ts';
import type { Log } from '../log.ts';
import { anchorChains } from './ledger/chains.ts';
import { TABLES } from './partitions.ts';

const DROP_TIMEOUT_MS = 60_000;
/** Whoever adds a row meanwhile waits as long. The next retention tries again. */
const LOCK_TIMEOUT_MS = 1_000;

/**
 * Drops the months that ended more than so many days ago; with 0 days, all of them, and the chains of the ledger with
 * them.
 */
export async function dropOldPartitions(pool: pg.Pool, days: number, log: Log): Promise<void> {
  const { rows } = await pool.query<{ name: string; parent: string }>(
    `SELECT child.relname AS name, parent.relname AS parent
       FROM pg_inherits
       JOIN pg_class child ON child.oid = inhrelid
       JOIN pg_class parent ON parent.oid = inhparent
      WHERE parent.relnamespace = 'gatehouse'::regnamespace AND parent.relname = ANY ($1)
        AND ($2 = 0 OR (to_date(substring(child.relname FROM '\\d{4}_\\d\\d$'), 'YYYY_MM') + interval '1 month') AT TIME ZONE 'UTC'
                       <= now() - make_interval(days => $2))
      ORDER BY name`,
    [TABLES, days],
  );
  for (const { name, parent } of rows) {
    await inTransaction(pool, DROP_TIMEOUT_MS, async (client) => {
      await client.query(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`);
      if (parent === 'ledger' && days > 0) {
        await anchorChains(client, name);
      } else if (parent === 'ledger') {
        await client.query('DELETE FROM gatehouse.ledger_chains');
        await client.query('DELETE FROM gatehouse.ledger_branches');
      }
      await client.query(`DROP TABLE IF EXISTS gatehouse.${client.escapeIdentifier(name)}`);
    });
    log.info({ partition: name, days }, 'a month of the record was dropped');
  }
}
