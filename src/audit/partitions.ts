import type pg from 'pg';
import { CHECK_VIOLATION, sqlState } from '../db/sqlstate.ts';
import { commitStatement, inTransaction } from '../db/transaction.ts';

/** The tables of the record. Each has one partition a month, in UTC, named `<table>_2026_01`. */
export const TABLES: readonly string[] = [
  'audit_verdicts',
  'audit_postings',
  'audit_texts',
  'audit_rule_changes',
  'ledger',
];

/** The advisory lock under which partitions are made: any number, as long as every version uses the same. */
const ADVISORY_LOCK = 4_201_883_918;

/**
 * Reads the catalog: to_regclass() may answer from this session's cache, without what another one has committed just
 * now.
 */
const MISSING = `
  SELECT parent, month::date::text AS first, (month + interval '1 month')::date::text AS next, suffix
    FROM unnest($1::text[]) AS parent, date_trunc('month', now() AT TIME ZONE 'UTC') AS month, to_char(month, 'YYYY_MM') AS suffix
   WHERE NOT EXISTS (
     SELECT FROM pg_class WHERE relnamespace = 'gatehouse'::regnamespace AND relname = parent || '_' || suffix)`;

/**
 * Makes the partitions of the present month, in the transaction that adds the first row of it, so that no other process
 * has to have run before. Neither readers nor those that add rows are blocked: ATTACH locks out only other makers, who
 * wait for the advisory lock anyway. The months are those of the transaction's own time, now(), which is also the
 * default of the rows.
 */
export async function ensurePartitions(client: pg.ClientBase): Promise<void> {
  if ((await missing(client)).length === 0) {
    return;
  }
  await client.query('SELECT pg_advisory_xact_lock($1)', [ADVISORY_LOCK]);
  for (const { parent, suffix, first, next } of await missing(client)) {
    const partition = `gatehouse.${parent}_${suffix}`;
    await client.query(`
      CREATE TABLE ${partition} (LIKE gatehouse.${parent} INCLUDING ALL);
      CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ${partition}
        FOR EACH STATEMENT EXECUTE FUNCTION gatehouse.refuse_audit_change();
      REVOKE UPDATE, DELETE, TRUNCATE ON ${partition} FROM CURRENT_USER;
      ALTER TABLE gatehouse.${parent} ATTACH PARTITION ${partition}
        FOR VALUES FROM ('${first} 00:00:00+00') TO ('${next} 00:00:00+00')`);
  }
}

/**
 * Runs one statement that adds rows, as {@link commitStatement} does. That a partition is missing is not asked before,
 * since the row that has none is refused: then they are made, and it is run again.
 */
export async function commitRows<Row extends pg.QueryResultRow>(
  pool: pg.Pool,
  timeoutMs: number,
  statement: pg.QueryConfig,
): Promise<readonly Row[]> {
  try {
    return await commitStatement<Row>(pool, timeoutMs, statement);
  } catch (error) {
    if (sqlState(error) !== CHECK_VIOLATION) {
      throw error;
    }
    return inTransaction(pool, timeoutMs, async (client) => {
      await ensurePartitions(client);
      return (await client.query<Row>(statement)).rows;
    });
  }
}

/** Names of tables and dates of the database: what they are put into is SQL without parameters. */
interface MissingPartition {
  readonly parent: string;
  readonly suffix: string;
  readonly first: string;
  readonly next: string;
}

async function missing(client: pg.ClientBase): Promise<readonly MissingPartition[]> {
  const { rows } = await client.query<MissingPartition>(MISSING, [TABLES]);
  return rows;
}
