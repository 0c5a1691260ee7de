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

export function atMost(what: string, before: Spread, after: Spread, most = MAX_TIME_RATIO): Compared {
  return {
    what,
    before: `${cell(before, 1)} ms`,
    after: `${cell(after, 1)} ms, × ${(after.median / before.median).toFixed(2)}`,
    target: { wanted: `≤ ${most} ×`, met: after.median <= most * before.median },
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

export function loadAt(server: Running, seconds: number, rate?: number): Promise<LoadResult> {
  return loadOn(server, { connections: TARGET_CONNECTIONS, seconds, ...(rate !== undefined && { rate }) });
}
