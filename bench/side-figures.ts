import pg from 'pg';
import { type Bench, start } from './contenders.ts';
import type { Plan, Say } from './plan.ts';
import { type Spread, spread } from './stats.ts';
import { loadOn, rotated } from './throughput.ts';

/** The two that store. */
const STORING = ['koa', 'gatehouse'] as const;
type Storing = (typeof STORING)[number];
type Both<T> = Readonly<Record<Storing, T>>;

const IDLE_PER_SECOND = 20;
const CONNECTIONS = 64;
/** A few hundred deliveries over and over: each is new once. */
const REPEATED = 500;

export interface Latency {
  readonly p50: Spread;
  readonly p99: Spread;
}

/** From when a delivery is due to its answer, at a fixed rate, in milliseconds. */
export async function measureLatency(bench: Bench, plan: Plan, rate: number, say: Say): Promise<Both<Latency>> {
  const samples = { koa: { p50: [], p99: [] }, gatehouse: { p50: [], p99: [] } } as Both<{
    p50: number[];
    p99: number[];
  }>;
  for (let round = 0; round < plan.rounds; round++) {
    for (const name of rotated(STORING, round)) {
      await bench.clear(name);
      const server = await start(name, bench);
      await loadOn(server, { connections: CONNECTIONS, seconds: plan.warmupSeconds });
      const { p50, p99 } = await loadOn(server, { connections: CONNECTIONS, seconds: plan.seconds, rate });
      await server.stop();
      samples[name].p50.push(p50);
      samples[name].p99.push(p99);
      say(`${rate.toFixed(0)} a second  ${name.padEnd(9)} p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`);
    }
  }
  return both((name) => ({ p50: spread(samples[name].p50), p99: spread(samples[name].p99) }));
}

export function measureIdle(bench: Bench, plan: Plan, say: Say): Promise<Both<Latency>> {
  return measureLatency(bench, plan, IDLE_PER_SECOND, say);
}

/** Repeated deliveries acknowledged a second. */
export async function measureDuplicates(bench: Bench, plan: Plan): Promise<Spread> {
  const values: number[] = [];
  for (let round = 0; round < plan.rounds; round++) {
    await bench.clear('gatehouse');
    const server = await start('gatehouse', bench);
    await loadOn(server, { connections: CONNECTIONS, seconds: plan.warmupSeconds });
    const { perSecond } = await loadOn(server, { connections: CONNECTIONS, seconds: plan.seconds, repeat: REPEATED });
    await server.stop();
    values.push(perSecond);
  }
  return spread(values);
}

export interface Storage {
  /** Bytes for each delivery, indexes and jobs included. */
  readonly wal: number;
  readonly tables: number;
}

const TABLES: Both<readonly string[]> = {
  koa: ['deliveries'],
  gatehouse: ['gatehouse.deliveries', 'gatehouse.frames', 'gatehouse_jobs.job'],
};

export async function measureStorage(bench: Bench, plan: Plan): Promise<Both<Storage>> {
  const measure = async (name: Storing): Promise<Storage> => {
    await bench.clear(name);
    const server = await start(name, bench);
    const database = new pg.Client({ connectionString: bench.databaseUrl(name) });
    await database.connect();
    const size = async (): Promise<Storage> => {
      const { rows } = await database.query<{ wal: string; tables: string }>(
        `SELECT pg_current_wal_insert_lsn() - '0/0' AS wal,
                (SELECT sum(coalesce(
                          (SELECT sum(pg_total_relation_size(relid)) FROM pg_partition_tree(given.name)),
                          pg_total_relation_size(given.name)))
                   FROM unnest($1::regclass[]) AS given (name)) AS tables`,
        [TABLES[name]],
      );
      return { wal: Number(rows[0]?.wal), tables: Number(rows[0]?.tables) };
    };
    // The first change to a page after a checkpoint is logged as a whole page: get past it first.
    await loadOn(server, { connections: 16, seconds: plan.warmupSeconds });
    const before = await size();
    const counted = async () =>
      Number((await database.query<{ n: string }>(`SELECT count(*) AS n FROM ${TABLES[name][0]}`)).rows[0]?.n);
    const first = await counted();
    await loadOn(server, { connections: 16, seconds: plan.seconds });
    const after = await size();
    const deliveries = (await counted()) - first;
    await database.end();
    await server.stop();
    return { wal: (after.wal - before.wal) / deliveries, tables: (after.tables - before.tables) / deliveries };
  };
  return { koa: await measure('koa'), gatehouse: await measure('gatehouse') };
}

/** Milliseconds from the start of the process until it is ready: for Koa when it listens, its table being there. */
export async function measureStarts(bench: Bench, plan: Plan): Promise<Both<Spread>> {
  const samples: Both<number[]> = { koa: [], gatehouse: [] };
  for (let turn = 0; turn < plan.starts; turn++) {
    for (const name of rotated(STORING, turn)) {
      const server = await start(name, bench);
      samples[name].push(server.readyAfterMs);
      await server.stop();
    }
  }
  return both((name) => spread(samples[name]));
}

function both<T>(of: (name: Storing) => T): Both<T> {
  return { koa: of('koa'), gatehouse: of('gatehouse') };
}
