import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchDatabase } from './databases.ts';
import { openReviewSite } from './review-site.ts';
import { percentile } from './stats.ts';

/** As github.com from another continent. */
export const FORGE_LATENCY_MS = 150;
export const AT_ONCE = 50;
/** Reviews at once in a worker: as installed, and one for each pull request. */
const CONCURRENCIES = [4, AT_ONCE] as const;

/** By the reviews at once of the worker: the 95th percentile from webhook to final status, in milliseconds. */
export type SlowForge = readonly { readonly concurrency: number; readonly p95: number }[];

const POLL_MS = 5;

/** All pull requests change at once, on a forge without a limit on writes; half of them turn bad, and get a comment. */
export async function measureSlowForge(database: BenchDatabase): Promise<SlowForge> {
  const measured: SlowForge[number][] = [];
  for (const concurrency of CONCURRENCIES) {
    measured.push({ concurrency, p95: await measure(database, concurrency) });
  }
  return measured;
}

async function measure(database: BenchDatabase, concurrency: number): Promise<number> {
  await using site = await openReviewSite(database, AT_ONCE);
  const { forge, numbers } = site;
  await site.work({ WORKER_CONCURRENCY: String(concurrency) });
  const retitleAll = (titles: readonly [even: string, odd: string]) =>
    Promise.all(numbers.map((number) => site.retitle(number, titles[number % 2] ?? '')));
  await retitleAll(['feat: warm up', 'warm up']);
  const [even, odd] = [numbers.filter((number) => number % 2 === 0), numbers.filter((number) => number % 2 === 1)];
  await site.settled(even, 'success');
  await site.settled(odd, 'failure');
  await sleep(1_000);

  forge.latency.ms = FORGE_LATENCY_MS;
  const begin = performance.now();
  const told = retitleAll(['bad', 'feat: good']);
  const times: number[] = [];
  while (times.length < numbers.length) {
    const left = site.unsettled(even, 'failure').length + site.unsettled(odd, 'success').length;
    while (times.length < numbers.length - left) {
      times.push(performance.now() - begin);
    }
    await sleep(POLL_MS);
  }
  await told;
  forge.latency.ms = 0;
  return percentile(Float64Array.from(times), 0.95);
}
