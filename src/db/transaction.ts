import type pg from 'pg';

/** The server did not finish in time; whether it committed is not known. */
export class TransactionTimeoutError extends Error {
  override readonly name = 'TransactionTimeoutError';
}

/**
 * Runs `work` in one transaction. After `timeoutMs` the connection is cut, which ends a hung server's
 * hold on it and makes the server roll back. After any failure the connection is discarded rather
 * than trusted. Throws {@link TransactionTimeoutError}, or what `work` or the database threw.
 */
export async function inTransaction<T>(
  pool: pg.Pool,
  timeoutMs: number,
  work: (client: pg.ClientBase) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  let lost: Error | undefined;
  const onError = (error: Error) => {
    lost ??= error;
  };
  client.on('error', onError);
  const timer = setTimeout(() => {
    lost = new TransactionTimeoutError(`the transaction took longer than ${timeoutMs} ms`);
    // With a query under way this destroys the socket, and the query rejects.
    void client.end();
  }, timeoutMs);

  let failed = true;
  try {
    await client.query('BEGIN');
    const result = await work(client);
    await client.query('COMMIT');
    failed = false;
    return result;
  } catch (error) {
    throw lost ?? error;
  } finally {
    clearTimeout(timer);
    client.release(failed);
    client.off('error', onError);
  }
}
