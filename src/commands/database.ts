import type pg from 'pg';
import { ConfigurationError } from '../config/config.ts';
import { findLacking } from '../db/lacking.ts';
import { makePool } from '../db/pool.ts';
import { NewerSchemaError, readSchemaState } from '../db/schema.ts';
import type { StoredDelivery } from '../inbox/delivery.ts';
import { readBody } from '../inbox/read-body.ts';
import { makeLog } from '../log.ts';

/** Works with the database, which must have the schema that this version knows, and closes the pool. */
export async function withDatabase<T>(databaseUrl: string, work: (pool: pg.Pool) => Promise<T>): Promise<T> {
  const pool = makePool(databaseUrl, makeLog('silent'));
  try {
    const state = await readSchemaState(pool);
    if (state === 'too-new') {
      throw new NewerSchemaError();
    }
    if (state === 'behind') {
      throw new ConfigurationError('The database schema is not up to date; run gatehouse migrate first.');
    }
    const lacking = await findLacking(pool);
    if (lacking !== undefined) {
      throw new ConfigurationError(`The database cannot be used: ${lacking}.`);
    }
    return await work(pool);
  } finally {
    await pool.end();
  }
}

/** The exact bytes of a delivery's body, or why there are none. */
export async function readBodyOf(
  pool: pg.Pool,
  delivery: StoredDelivery,
): Promise<{ readonly body: Buffer } | { readonly problem: string }> {
  const read = await readBody(pool, delivery);
  switch (read.outcome) {
    case 'read':
      return read;
    case 'deleted':
      return { problem: 'it was deleted in the meantime' };
    case 'damaged':
      return { problem: `its stored body is damaged (${read.reason}); redeliver it at the forge, or restore a backup` };
  }
}
