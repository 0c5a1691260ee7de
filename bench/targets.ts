import type { Figures } from './figures.ts';
import { TARGET_CONNECTIONS } from './plan.ts';
import type { Throughput } from './throughput.ts';

export interface Target {
  readonly what: string;
  /** In the target's own unit. */
  readonly wanted: string;
  readonly got: string;
  readonly met: boolean;
}

const MAX_STATUS_MS = 100;
const MAX_START_MS = 1_000;
const MAX_IDLE_RATIO = 1.15;

/** Gatehouse's targets, each as a ratio within one run, and whether this run reached them. */
export function judgeTargets(figures: Figures): readonly Target[] {
  const { throughput, half, idle, starts, reviews } = figures;
  const perSecond = (name: Throughput['name']) =>
    throughput.find((one) => one.name === name)?.perSecond.get(TARGET_CONNECTIONS)?.median ?? Number.NaN;
  const loaded = (name: Throughput['name']) =>
    throughput.find((one) => one.name === name)?.loadedBytes?.median ?? Number.NaN;
  const atLeast = (what: string, value: number, least: number): Target => ({
    what,
    wanted: `≥ ${least}`,
    got: value.toFixed(2),
    met: value >= least,
  });
  const atMost = (what: string, value: number, most: number, unit: string, digits: number): Target => ({
    what,
    wanted: `≤ ${most}${unit}`,
    got: `${value.toFixed(digits)}${unit}`,
    met: value <= most,
  });
  const startDifference = starts.gatehouse.median - starts.koa.median;
  return [
    atLeast('Deliveries a second, to one INSERT each', perSecond('gatehouse') / perSecond('koa'), 2.5),
    atLeast('Deliveries a second, to `@octokit/webhooks`', perSecond('gatehouse') / perSecond('octokit'), 0.45),
    atMost(
      'p99 at half load, to the p50 of one INSERT each',
      half.gatehouse.p99.median / half.koa.p50.median,
      3,
      '',
      2,
    ),
    atMost('Idle p50, to that of one INSERT', idle.gatehouse.p50.median / idle.koa.p50.median, MAX_IDLE_RATIO, '', 2),
    atMost('Cold start to ready, beyond Koa’s and pg’s', startDifference, MAX_START_MS, ' ms', 0),
    atMost('Resident memory under load, to one INSERT each', loaded('gatehouse') / loaded('koa'), 2, '', 2),
    atMost('Webhook to status, median', reviews.webhookToStatus.median, MAX_STATUS_MS, ' ms', 0),
  ];
}
