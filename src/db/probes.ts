import type pg from 'pg';
import type { LackingCheck } from './lacking.ts';
import { readSchemaState, type SchemaState } from './schema.ts';
import { onConnection } from './transaction.ts';
import { UnusableDatabaseError } from './unusable.ts';

const SCHEMA_MESSAGES: Readonly<Record<SchemaState, string | undefined>> = {
  usable: undefined,
  behind: 'the schema is not up to date; run gatehouse migrate',
  'too-new': 'the schema is newer than this version of Gatehouse can use',
  'read-only': 'is read-only',
};

/**
 * Undefined when the database answers and its schema fits, else what is wrong, without a host name. A connection that
 * answered anything else is discarded: behind its address there may be another server by now.
 */
export async function probeDatabase(
  pool: pg.Pool,
  timeoutMs: number,
  refuseLacking: LackingCheck,
): Promise<string | undefined> {
  try {
    await onConnection(pool, timeoutMs, (client) => refuseUnusable(client, refuseLacking));
    return undefined;
  } catch (error) {
    return error instanceof UnusableDatabaseError ? error.reason : publicReason(error);
  }
}

/** Throws {@link UnusableDatabaseError} where this code cannot work with the schema. */
export async function refuseUnusable(client: pg.Pool | pg.ClientBase, refuseLacking: LackingCheck): Promise<void> {
  const reason = SCHEMA_MESSAGES[await readSchemaState(client)];
  if (reason !== undefined) {
    throw new UnusableDatabaseError(reason);
  }
  await refuseLacking(client);
}

const REASONS: readonly (readonly [RegExp, string])[] = [
  [/ECONNREFUSED/, 'refused the connection'],
  [/ENOTFOUND|EAI_AGAIN/, 'its host name is not known'],
  [/28P01|28000/, 'refused the credentials'],
  [/3D000/, 'the database does not exist'],
  [/57P01|57P03/, 'is starting up or shutting down'],
  [/53300/, 'has no connections left'],
  [/55000/, 'does not accept connections'],
  [/57014|ETIMEDOUT|timeout/, 'did not answer in time'],
];

/** Messages of drivers name hosts and users; anyone may read a health report. */
export function publicReason(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const text = `${code} ${error instanceof Error ? error.message : ''}`;
  return REASONS.find(([pattern]) => pattern.test(text))?.[1] ?? 'is not connected';
}
