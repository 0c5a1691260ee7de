import { setTimeout as sleep } from 'node:timers/promises';
import type { GatehouseProcess } from '../test/helpers/process.ts';
import { usageOf } from '../test/helpers/usage.ts';
import type { SimulatedForge } from '../test/simulated-forge/simulated-forge.ts';
import type { BenchDatabase } from './databases.ts';
import type { Plan, Say } from './plan.ts';
import { openReviewSite } from './review-site.ts';
import { percentile, type Spread, spread } from './stats.ts';

export interface Reviews {
  /** Milliseconds from sending the webhook to the final status at the forge, one at a time, with the 99th percentile. */
  readonly webhookToStatus: Spread & { readonly p99: number };
  /** Until 95 % had their status, when all are started at once. */
  readonly perSecond: number;
  /** Seconds until the last of them had it. */
  readonly lastAfter: number;
  /**
   * Processor time of the worker for one of them, in milliseconds, once it is warm. Undefined where the system does not
   * tell. The forge, the door and what waits for the status are not in it.
   */
  readonly cpuMs: number | undefined;
}

const MOST = 0.95;
/** So that a review and its job are finished before the next starts. */
const PAUSE_MS = 30;
/** A worker that makes no request for this long has nothing more to do. */
const QUIET_MS = 2_000;
/** What a review does after its status. */
const CPU_QUIET_MS = 500;

/** Door and worker in separate processes, the forge in this one: its time is part of the measurement. */
export async function measureReviews(database: BenchDatabase, plan: Pick<Plan, 'reviews'>, say: Say): Promise<Reviews> {
  await using site = await openReviewSite(database, plan.reviews);
  const { forge, numbers } = site;
  const retitleAll = async (title: string) => {
    for (const number of numbers) {
      await site.retitle(number, title);
    }
  };
  const first = await site.work();
  // The first review, with everything that is done only once, is not measured.
  await retitleAll('feat: warm up');
  await site.settled(numbers, 'success');
  await quiet(forge);

  const times: number[] = [];
  for (const [index, number] of numbers.entries()) {
    const begin = performance.now();
    await site.retitle(number, 'bad');
    await site.settled([number], 'failure');
    times.push(performance.now() - begin);
    await sleep(PAUSE_MS);
    if (index % 50 === 49) {
      say(`${index + 1}/${numbers.length} reviews, one at a time`);
    }
  }

  first.child.kill('SIGTERM');
  await first.ended();
  await retitleAll('feat: all at once');
  const begin = performance.now();
  const worker = await site.work();
  const seconds = () => (performance.now() - begin) / 1_000;
  const most = Math.ceil(numbers.length * MOST);
  await site.settled(numbers, 'success', numbers.length - most);
  const perSecond = most / seconds();
  await site.settled(numbers, 'success');
  const lastAfter = seconds();
  await quiet(forge);
  const cpuMs = await cpuOf(worker, numbers.length, async () => {
    await retitleAll('bad again');
    await site.settled(numbers, 'failure');
    await sleep(CPU_QUIET_MS);
  });
  const sorted = Float64Array.from(times).sort();
  return { webhookToStatus: { ...spread(times), p99: percentile(sorted, 0.99) }, perSecond, lastAfter, cpuMs };
}

async function cpuOf(
  { child }: GatehouseProcess,
  reviews: number,
  act: () => Promise<void>,
): Promise<number | undefined> {
  const used = async () => (child.pid === undefined ? undefined : (await usageOf(child.pid))?.cpuSeconds);
  const before = await used();
  await act();
  const after = await used();
  return before === undefined || after === undefined ? undefined : ((after - before) / reviews) * 1_000;
}

async function quiet(forge: SimulatedForge): Promise<void> {
  let before = -1;
  while (forge.count() !== before) {
    before = forge.count();
    await sleep(QUIET_MS);
  }
}
