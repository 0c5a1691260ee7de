import type pg from 'pg';
import { INVALID_SCHEMA_NAME, sqlState, UNDEFINED_FUNCTION, UNDEFINED_TABLE } from './sqlstate.ts';

/** The newest migration that this code knows. */
export const SCHEMA_VERSION = 1;

/**
 * - `behind`: `gatehouse migrate` has not been run yet.
 * - `usable`: this code's own version, or a newer one that still serves it. Rolling upgrades and
 *   rollbacks rely on that: a migration that only adds leaves `oldest_reader` where it was.
 * - `too-new`: a migration has declared that code as old as this one must not run.
 * - `read-only`: it fits, but nothing can be written: a standby, or a primary that was demoted.
 */
export type SchemaState = 'behind' | 'usable' | 'too-new' | 'read-only';

export class NewerSchemaError extends Error {
  override readonly name = 'NewerSchemaError';
  constructor() {
    super('the database schema is newer than this version of Gatehouse can use; run the newer version');
  }
}

export async function readSchemaState(client: pg.Pool | pg.ClientBase): Promise<SchemaState> {
  try {
    const { rows } = await client.query<{ oldest_reader: number; newest: string | null; read_only: boolean }>(
      `SELECT gatehouse.oldest_reader(), (SELECT max(name) FROM gatehouse.migrations) AS newest,
              current_setting('transaction_read_only')::boolean AS read_only`,
    );
    const [row] = rows;
    if (row === undefined) {
      return 'behind';
    }
    if (row.oldest_reader > SCHEMA_VERSION) {
      return 'too-new';
    }
    if (migrationNumber(row.newest) < SCHEMA_VERSION) {
      return 'behind';
    }
    return row.read_only ? 'read-only' : 'usable';
  } catch (error) {
    const state = sqlState(error);
    if (state === UNDEFINED_TABLE || state === UNDEFINED_FUNCTION || state === INVALID_SCHEMA_NAME) {
      return 'behind';
    }
    throw error;
  }
}

/** `0001_tables` is 1. */
function migrationNumber(name: string | null): number {
  return Number.parseInt(name ?? '0', 10);
}
