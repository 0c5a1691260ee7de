import type pg from 'pg';
import { withTimeout } from '../common/timeout.ts';
import { cancelRunning } from './cancel.ts';
import { queryAll } from './query-all.ts';

/** How long a connection that is given up may wait for what it runs to be cancelled. */
const CANCEL_MS = 500;

/** The server did not finish in time; whether it committed is not known. */
export class TransactionTimeoutError extends Error {
  override readonly name = 'TransactionTimeoutError';
}

/**
 * Runs `work` in one transaction, under the terms of {@link onConnection}. Each statement waits for the answer
 * to the one before.
 */
export function inTransaction<T>(
  pool: pg.Pool,
  timeoutMs: number,
  work: (client: pg.ClientBase) => Promise<T>,
): Promise<T> {
  return onConnection(pool, timeoutMs, async (client) => {
    await client.query('BEGIN');
    const result = await work(client);
    await commitTransaction(client);
    return result;
  });
}

/** The sessions of our pools report no warnings before this. */
const COMMIT = "SET LOCAL client_min_messages = 'warning'; COMMIT";

/**
 * Throws unless the COMMIT did all that it should. Two failures are not errors for PostgreSQL: it answers the COMMIT of
 * a transaction that has failed with a ROLLBACK, and where somebody cancels the wait for a synchronous standby, it
 * commits on the primary alone and warns.
 */
export async function commitTransaction(client: pg.ClientBase): Promise<void> {
  await withoutWarning(client, async () => {
    const results = await queryAll(client, COMMIT);
    if (results.at(-1)?.command !== 'COMMIT') {
      throw new Error('the transaction was rolled back');
    }
  });
}

/** What a statement selects that is a transaction of its own, so that its COMMIT shows its warnings. */
export const WITH_WARNINGS = "set_config('client_min_messages', 'warning', true)";

/**
 * Runs one statement that selects {@link WITH_WARNINGS}, as a transaction of its own and under the terms of
 * {@link onConnection} and {@link commitTransaction}.
 */
export function commitStatement<Row extends pg.QueryResultRow>(
  pool: pg.Pool,
  timeoutMs: number,
  statement: pg.QueryConfig,
): Promise<readonly Row[]> {
  return onConnection(pool, timeoutMs, (client) =>
    withoutWarning(client, async () => (await client.query<Row>(statement)).rows),
  );
}

/** Throws when the server warns meanwhile. */
async function withoutWarning<T>(client: pg.ClientBase, commit: () => Promise<T>): Promise<T> {
  let warning: string | undefined;
  const onNotice = ({ message }: { readonly message?: string | undefined }) => {
    warning ??= message ?? 'a warning';
  };
  client.on('notice', onNotice);
  try {
    const result = await commit();
    if (warning !== undefined) {
      throw new Error(`the COMMIT came with a warning: ${warning}`);
    }
    return result;
  } finally {
    client.off('notice', onNotice);
  }
}

/**
 * Lends a connection of the pool to `work`. After `timeoutMs`, which include the wait for the connection, it is cut,
 * which ends a hung server's hold on it and makes the server roll back. After any failure it is discarded rather than
 * trusted. Throws {@link TransactionTimeoutError}, or what `work` or the database threw.
 */
export async function onConnection<T>(
  pool: pg.Pool,
  timeoutMs: number,
  work: (client: pg.ClientBase) => Promise<T>,
): Promise<T> {
  const start = performance.now();
  const leftMs = () => Math.max(0, timeoutMs - (performance.now() - start));
  const client = await pool.connect().catch((error: unknown) => {
    throw leftMs() > 0 ? error : new TransactionTimeoutError(`no connection within ${timeoutMs} ms`);
  });
  let lost: Error | undefined;
  const onError = (error: Error) => {
    lost ??= error;
  };
  client.on('error', onError);
  const timer = setTimeout(() => {
    lost = new TransactionTimeoutError(`the transaction took longer than ${timeoutMs} ms`);
    void withTimeout(CANCEL_MS, cancelRunning(client), () => {}).then(() => cut(client));
  }, leftMs());

  let failed = true;
  try {
    const result = await work(client);
    failed = false;
    return result;
  } catch (error) {
    throw lost ?? error;
  } finally {
    clearTimeout(timer);
    // What ended just after its time is cut as well: nobody else may be given that connection.
    client.release(failed || lost !== undefined);
    client.off('error', onError);
  }
}

/**
 * At once: `end()` would wait for what a hung server still owes to statements that were sent together. Its types do
 * not tell of a client's connection, and nothing that they do tell of can cut it.
 */
export function cut(client: pg.ClientBase & { readonly connection?: pg.Connection }): void {
  client.connection?.stream.destroy();
}
