import type pg from 'pg';
import type { Test } from './test.ts';

/** What the serial tests of a file share: opened by the first that asks, emptied for each, and closed with the file. */
export function share<T extends AsyncDisposable>(
  test: Test,
  open: () => Promise<T>,
  empty: (shared: T) => Promise<void>,
): () => Promise<T> {
  let opened: Promise<T> | undefined;
  test.after.always(async () => (await opened)?.[Symbol.asyncDispose]());
  return async () => {
    opened ??= open();
    const shared = await opened;
    await empty(shared);
    return shared;
  };
}

export async function forgetDeliveries(database: pg.Pool): Promise<void> {
  const tables = ['deliveries', 'delivery_keys', 'frames', 'repositories'].map((name) => `gatehouse.${name}`);
  await database.query([...tables, 'gatehouse_jobs.job'].map((table) => `DELETE FROM ${table}`).join('; '));
}
