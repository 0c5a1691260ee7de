import type pg from 'pg';
import { makePartitions, type Partitioning } from '../db/partitions.ts';
import { isMissingPartition } from '../db/sqlstate.ts';
import { commitStatement, inTransaction } from '../db/transaction.ts';

/** The tables of the record. */
export const RECORD: Partitioning = {
  tables: ['audit_verdicts', 'audit_postings', 'audit_texts', 'audit_rule_changes', 'merges'],
  unit: 'month',
  ahead: 0,
  prepare: (partition) => `
    CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ${partition}
      FOR EACH STATEMENT EXECUTE FUNCTION gatehouse.refuse_audit_change();
    REVOKE UPDATE, DELETE, TRUNCATE ON ${partition} FROM CURRENT_USER;`,
};

/**
 * Makes the partitions of the present month, in the transaction that adds the first row of it, so that no other process
 * has to have run before.
 */
export async function ensurePartitions(client: pg.ClientBase): Promise<void> {
  await makePartitions(client, RECORD);
}

/**
 * Runs one statement that adds rows, as {@link commitStatement} does. It does not look for
 * the partition first: without one the row is refused, the partitions are made, and the statement runs again.
 */
export async function commitRows<Row extends pg.QueryResultRow>(
  pool: pg.Pool,
  timeoutMs: number,
  statement: pg.QueryConfig,
): Promise<readonly Row[]> {
  try {
    return await commitStatement<Row>(pool, timeoutMs, statement);
  } catch (error) {
    if (!isMissingPartition(error)) {
      throw error;
    }
    return inTransaction(pool, timeoutMs, async (client) => {
      await ensurePartitions(client);
      return (await client.query<Row>(statement)).rows;
    });
  }
}
