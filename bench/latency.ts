import { type Both, STORING, withServer } from './contenders.ts';
import { type BenchDatabase, onDatabase } from './databases.ts';
import { type Plan, type Say, TARGET_CONNECTIONS } from './plan.ts';
import { rotated, type Spread, spread } from './stats.ts';
import { loadOn } from './throughput.ts';

export interface Latency {
  readonly p50: Spread;
  readonly p99: Spread;
}

/** From when a delivery is due to its answer, at a fixed rate, in milliseconds. */
export async function measureLatency(
  databases: Both<BenchDatabase>,
  plan: Plan,
  rate: number,
  say: Say,
): Promise<Both<Latency>> {
  const samples: Both<{ p50: number; p99: number }[]> = { koa: [], gatehouse: [] };
  for (let round = 0; round < plan.rounds; round++) {
    for (const name of rotated(STORING, round)) {
      await databases[name].clear();
      const { p50, p99 } = await withServer(name, databases[name], async (server) => {
        await loadOn(server, { connections: TARGET_CONNECTIONS, seconds: plan.warmupSeconds });
        return loadOn(server, { connections: TARGET_CONNECTIONS, seconds: plan.seconds, rate });
      });
      samples[name].push({ p50, p99 });
      say(`${rate.toFixed(0)} a second  ${name.padEnd(9)} p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`);
    }
  }
  const of = (rounds: readonly { p50: number; p99: number }[]): Latency => ({
    p50: spread(rounds.map(({ p50 }) => p50)),
    p99: spread(rounds.map(({ p99 }) => p99)),
  });
  return { koa: of(samples.koa), gatehouse: of(samples.gatehouse) };
}

const STORAGE_CONNECTIONS = 16;

/** Bytes for each delivery, indexes and jobs included. */
export interface Storage {
  readonly wal: number;
  readonly tables: number;
}

export async function measureStorage(databases: Both<BenchDatabase>, plan: Plan): Promise<Both<Storage>> {
  const of = async (name: keyof Both<Storage>): Promise<Storage> => {
    const database = databases[name];
    await database.clear();
    return withServer(name, database, async (server) => {
      const store = (seconds: number) => loadOn(server, { connections: STORAGE_CONNECTIONS, seconds });
      // The first change to a page after a checkpoint is logged as a whole page: get past it first.
      await store(plan.warmupSeconds);
      const before = await sizeOf(database);
      await store(plan.seconds);
      const after = await sizeOf(database);
      const deliveries = after.rows - before.rows;
      return { wal: (after.wal - before.wal) / deliveries, tables: (after.tables - before.tables) / deliveries };
    });
  };
  return { koa: await of('koa'), gatehouse: await of('gatehouse') };
}

/** Of the database's tables. `rows`: deliveries. */
function sizeOf({ url, tables }: BenchDatabase): Promise<Storage & { readonly rows: number }> {
  return onDatabase(url, async (client) => {
    const { rows } = await client.query<{ wal: string; tables: string; rows: string }>(
      `SELECT pg_current_wal_insert_lsn() - '0/0' AS wal,
              (SELECT count(*) FROM ${tables[0]}) AS rows,
              (SELECT sum(coalesce(
                        (SELECT sum(pg_total_relation_size(relid)) FROM pg_partition_tree(given.name)),
                        pg_total_relation_size(given.name)))
                 FROM unnest($1::regclass[]) AS given (name)) AS tables`,
      [tables],
    );
    return { wal: Number(rows[0]?.wal), tables: Number(rows[0]?.tables), rows: Number(rows[0]?.rows) };
  });
}
