import { Redis } from 'ioredis';
import pg from 'pg';
import { migrateStores } from '../src/composition/migrate-stores.ts';
import type { Stores } from '../test/helpers/stores.ts';

/** A database of one contender, on the PostgreSQL that all share. */
export interface BenchDatabase {
  readonly url: string;
  readonly redisUrl: string;
  /** What {@link BenchDatabase.clear} empties. */
  readonly tables: readonly string[];
  /** Empties the tables that exist, and runs a checkpoint, so that each measurement begins alike. */
  clear(): Promise<void>;
}

export async function createDatabase(
  { database, redis }: Stores,
  name: string,
  tables: readonly string[],
): Promise<BenchDatabase> {
  await onDatabase(database.url, (client) => client.query(`CREATE DATABASE ${name}`));
  const { href: url } = Object.assign(new URL(database.url), { pathname: name });
  return {
    url,
    redisUrl: redis.url,
    tables,
    clear: () =>
      onDatabase(url, async (client) => {
        const { rows } = await client.query<{ name: string }>(
          'SELECT name FROM unnest($1::text[]) AS name WHERE to_regclass(name) IS NOT NULL',
          [tables],
        );
        if (rows.length > 0) {
          await client.query(`TRUNCATE ${rows.map((row) => row.name).join(', ')}`);
        }
        await client.query('CHECKPOINT');
      }),
  };
}

/** A database that `gatehouse migrate` has prepared. */
export async function createMigrated(stores: Stores, name: string, tables: readonly string[]): Promise<BenchDatabase> {
  const created = await createDatabase(stores, name, tables);
  await migrateStores(created.url);
  return created;
}

/** Runs `use` on a connection, and closes it. */
export async function onDatabase<T>(url: string, use: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}

export async function clearRedis(url: string): Promise<void> {
  const redis = new Redis(url);
  await redis.flushall();
  await redis.quit();
}
