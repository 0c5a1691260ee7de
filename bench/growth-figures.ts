import { makePool } from '../src/db/pool.ts';
import { applyRetention } from '../src/jobs/retention.ts';
import { makeLog } from '../src/log.ts';
import { type Running, withServer } from './contenders.ts';
import type { BenchDatabase } from './databases.ts';
import type { LoadResult } from './load.ts';
import { type Plan, say, TARGET_CONNECTIONS } from './plan.ts';
import { measureReviews } from './reviews.ts';
import { rotated, type Spread, spread } from './stats.ts';
import { cell } from './table.ts';
import { loadOn } from './throughput.ts';

export interface GrowthPlan extends Omit<Plan, 'connections'> {
  /** Deliveries in the table. */
  readonly sizes: readonly number[];
}

/** One line of the table. */
export interface Compared {
  readonly what: string;
  readonly before: string;
  readonly after: string;
  /** Undefined for what is only told. */
  readonly target: { readonly wanted: string; readonly met: boolean } | undefined;
}

const MIN_RATE_RATIO = 0.95;
const MAX_TIME_RATIO = 1.2;
const SIDES = ['empty', 'grown'] as const;
type Sides<T> = Readonly<Record<(typeof SIDES)[number], T>>;

/** In turns, so that both meet the same machine. */
export async function compareWithEmpty(
  databases: Sides<BenchDatabase>,
  plan: GrowthPlan,
): Promise<readonly Compared[]> {
  const samples = (): Sides<number[]> => ({ empty: [], grown: [] });
  const [rate, p99, toStatus] = [samples(), samples(), samples()];
  for (let round = 0; round < plan.rounds; round++) {
    for (const side of rotated(SIDES, round)) {
      const { perSecond } = await accept(databases[side], plan);
      rate[side].push(perSecond);
      say(`${side}: ${perSecond.toFixed(0)} accepted a second`);
    }
    // Both at the same rate, which either can do.
    const half = Math.min(...rate.empty, ...rate.grown) / 2;
    for (const side of rotated(SIDES, round + 1)) {
      const accepted = await accept(databases[side], plan, half);
      p99[side].push(accepted.p99);
      say(`${side}: p99 ${accepted.p99.toFixed(1)} ms at ${half.toFixed(0)} a second`);
    }
    for (const side of rotated(SIDES, round)) {
      const { webhookToStatus } = await measureReviews(databases[side], plan, () => {});
      toStatus[side].push(webhookToStatus.median);
      say(`${side}: webhook to status ${webhookToStatus.median.toFixed(1)} ms`);
    }
  }
  const [empty, grown] = [spread(rate.empty), spread(rate.grown)];
  return [
    {
      what: `Accepted a second, ${TARGET_CONNECTIONS} connections`,
      before: cell(empty, 0),
      after: `${cell(grown, 0)}, × ${(grown.median / empty.median).toFixed(2)}`,
      target: { wanted: `≥ ${MIN_RATE_RATIO} ×`, met: grown.median >= MIN_RATE_RATIO * empty.median },
    },
    atMost('p99 at half of that', spread(p99.empty), spread(p99.grown)),
    atMost('Webhook to status, median', spread(toStatus.empty), spread(toStatus.grown)),
  ];
}

function atMost(what: string, before: Spread, after: Spread): Compared {
  return {
    what,
    before: `${cell(before, 1)} ms`,
    after: `${cell(after, 1)} ms, × ${(after.median / before.median).toFixed(2)}`,
    target: { wanted: `≤ ${MAX_TIME_RATIO} ×`, met: after.median <= MAX_TIME_RATIO * before.median },
  };
}

async function accept(database: BenchDatabase, plan: GrowthPlan, rate?: number): Promise<LoadResult> {
  await database.clear();
  const result = await withServer('gatehouse', database, async (server) => {
    await loadAt(server, plan.warmupSeconds, rate);
    return loadAt(server, plan.seconds, rate);
  });
  const refused = Object.keys(result.statuses).filter((status) => status !== '200');
  if (refused.length > 0) {
    throw new Error(`answers other than 200: ${refused.join(', ')}`);
  }
  return result;
}

function loadAt(server: Running, seconds: number, rate?: number): Promise<LoadResult> {
  return loadOn(server, { connections: TARGET_CONNECTIONS, seconds, ...(rate !== undefined && { rate }) });
}

/** Deliveries a second while retention runs, far below what the door can do. */
const RATE = 150;
const RETENTION_DAYS = 20;
const RETENTION_SECONDS = 8;

/** The latency before retention runs and while it does. */
export function measureRetention(database: BenchDatabase, plan: GrowthPlan): Promise<readonly Compared[]> {
  return withServer('gatehouse', database, async (server) => {
    const log = makeLog('silent');
    const pool = makePool(database.url, log);
    const counted = async () => Number((await pool.query('SELECT count(*) AS n FROM gatehouse.deliveries')).rows[0]?.n);
    const stop = new AbortController();
    try {
      await loadAt(server, plan.warmupSeconds, RATE);
      const before = await loadAt(server, RETENTION_SECONDS, RATE);
      const stored = await counted();
      const begin = performance.now();
      const retention = applyRetention({ pool, days: RETENTION_DAYS, log, signal: stop.signal });
      const during = await loadAt(server, RETENTION_SECONDS, RATE);
      stop.abort();
      const state = await retention;
      const seconds = (performance.now() - begin) / 1_000;
      const deleted = ((stored + during.acknowledged - (await counted())) / seconds).toFixed(0);
      say(`retention: ${deleted} deliveries a second, ${state}`);
      const of = (figure: 'p50' | 'p99') =>
        atMost(
          `${figure} at ${RATE} a second, before retention and while it deletes ${deleted} a second`,
          spread([before[figure]]),
          spread([during[figure]]),
        );
      return [of('p50'), { ...of('p99'), target: undefined }];
    } finally {
      stop.abort();
      await pool.end();
    }
  });
}
