import type pg from 'pg';

/** Rows of the tables named like `tables` in any schema that this connection read and has not reported yet. */
async function unreported(client: pg.ClientBase, tables: string): Promise<number> {
  const { rows } = await client.query<{ read: number }>(
    `SELECT coalesce(sum(seq_tup_read + coalesce(idx_tup_fetch, 0)), 0)::int AS read
       FROM pg_stat_xact_user_tables WHERE relname LIKE $1`,
    [tables],
  );
  return rows[0]?.read ?? Number.NaN;
}

/**
 * What `read` returns, and how many rows of the tables named like `tables` it read (by a sequential scan or an index).
 * PostgreSQL keeps what earlier transactions of a connection read until it reports it, at most once a second and
 * never in a transaction: so the difference is taken, in one transaction, which is rolled back.
 */
export async function rowsRead<T>(pool: pg.Pool, tables: string, read: (client: pg.ClientBase) => Promise<T>) {
  const client = await pool.connect();
  await client.query('BEGIN');
  const before = await unreported(client, tables);
  const result = await read(client);
  const after = await unreported(client, tables);
  await client.query('ROLLBACK');
  client.release();
  return { result, read: after - before };
}
