import { type Bench, start } from './contenders.ts';
import { type Plan, type Say, TARGET_CONNECTIONS } from './plan.ts';
import { measureReviews } from './reviews.ts';
import { type Spread, spread } from './stats.ts';
import { loadOn, rotated } from './throughput.ts';

/** Without what only compares Gatehouse with others. */
export type GrowthBench = Omit<Bench, 'admin'>;

export interface GrowthPlan extends Pick<Plan, 'rounds' | 'warmupSeconds' | 'seconds' | 'reviews'> {
  /** Deliveries in the table. */
  readonly sizes: readonly number[];
}

/** One line of the table. */
export interface Compared {
  readonly size: number;
  readonly what: string;
  readonly before: string;
  readonly after: string;
  /** Undefined for what is only told. */
  readonly target: { readonly wanted: string; readonly met: boolean } | undefined;
}

const MIN_RATE_RATIO = 0.95;
const MAX_TIME_RATIO = 1.2;

interface Comparison {
  readonly empty: GrowthBench;
  readonly grown: GrowthBench;
  readonly size: number;
  readonly plan: GrowthPlan;
  readonly say: Say;
}

/** In turns, so that both meet the same machine. */
export async function compareWithEmpty({ empty, grown, size, plan, say }: Comparison): Promise<readonly Compared[]> {
  const benches = { empty, grown };
  const rate = { empty: [] as number[], grown: [] as number[] };
  const p99 = { empty: [] as number[], grown: [] as number[] };
  const toStatus = { empty: [] as number[], grown: [] as number[] };
  for (let round = 0; round < plan.rounds; round++) {
    for (const name of rotated(['empty', 'grown'] as const, round)) {
      const accepted = await accept(benches[name], plan);
      rate[name].push(accepted.perSecond);
      say(`${name}: ${accepted.perSecond.toFixed(0)} accepted a second`);
    }
    // Both at the same rate, which either can do.
    const half = Math.min(...rate.empty, ...rate.grown) / 2;
    for (const name of rotated(['empty', 'grown'] as const, round + 1)) {
      const accepted = await accept(benches[name], plan, half);
      p99[name].push(accepted.p99);
      say(`${name}: p99 ${accepted.p99.toFixed(1)} ms at ${half.toFixed(0)} a second`);
    }
    for (const name of rotated(['empty', 'grown'] as const, round)) {
      const { webhookToStatus } = await measureReviews(
        benches[name],
        { ...plan, connections: [TARGET_CONNECTIONS], starts: 0 },
        () => {},
      );
      toStatus[name].push(webhookToStatus.median);
      say(`${name}: webhook to status ${webhookToStatus.median.toFixed(1)} ms`);
    }
  }
  const rates = { empty: spread(rate.empty), grown: spread(rate.grown) };
  return [
    {
      size,
      what: `Accepted a second, ${TARGET_CONNECTIONS} connections`,
      before: cell(rates.empty, 0),
      after: `${cell(rates.grown, 0)}, × ${(rates.grown.median / rates.empty.median).toFixed(2)}`,
      target: {
        wanted: `≥ ${MIN_RATE_RATIO} ×`,
        met: rates.grown.median >= MIN_RATE_RATIO * rates.empty.median,
      },
    },
    atMost(size, 'p99 at half of that', spread(p99.empty), spread(p99.grown)),
    atMost(size, 'Webhook to status, median', spread(toStatus.empty), spread(toStatus.grown)),
  ];
}

export function atMost(size: number, what: string, before: Spread, after: Spread): Compared {
  return {
    size,
    what,
    before: `${cell(before, 1)} ms`,
    after: `${cell(after, 1)} ms, × ${(after.median / before.median).toFixed(2)}`,
    target: { wanted: `≤ ${MAX_TIME_RATIO} ×`, met: after.median <= MAX_TIME_RATIO * before.median },
  };
}

async function accept(bench: GrowthBench, plan: GrowthPlan, rate?: number) {
  await bench.clear('gatehouse');
  const server = await start('gatehouse', bench);
  try {
    const options = { connections: TARGET_CONNECTIONS, ...(rate !== undefined && { rate }) };
    await loadOn(server, { ...options, seconds: plan.warmupSeconds });
    const result = await loadOn(server, { ...options, seconds: plan.seconds });
    const refused = Object.keys(result.statuses).filter((status) => status !== '200');
    if (refused.length > 0) {
      throw new Error(`answers other than 200: ${refused.join(', ')}`);
    }
    return result;
  } finally {
    await server.stop();
  }
}

/** The median, and the least and the most of several rounds. */
function cell({ median, least, most }: Spread, digits: number): string {
  const [middle, ...range] = [median, least, most].map((value) => value.toFixed(digits));
  return `${middle} (${range.join('–')})`;
}
