import type { Both, ContenderName } from './contenders.ts';
import type { Latency, Storage } from './latency.ts';
import type { Reviews } from './reviews.ts';
import type { StepsOfReviews } from './steps.ts';
import { spreadOf, type Throughput } from './throughput.ts';

/** Everything that one run measured. */
export interface Figures {
  readonly command: string;
  readonly machine: string;
  readonly stores: string;
  /** The machine's load when it began and when it ended. */
  readonly loads: readonly [string, string];
  readonly throughput: Throughput;
  /** Deliveries a second: half of what Gatehouse reached. */
  readonly halfRate: number;
  readonly half: Both<Latency>;
  readonly idle: Both<Latency>;
  readonly storage: Both<Storage>;
  readonly reviews: Reviews;
  readonly steps: StepsOfReviews;
}

interface Target {
  readonly what: string;
  /** In the target's own unit. */
  readonly wanted: string;
  readonly got: string;
  readonly met: boolean;
}

const MAX_STATUS_MS = 100;
const MAX_IDLE_RATIO = 1.15;

/** Gatehouse's targets, each as a ratio within one run, and whether this run reached them. */
export function judgeTargets(figures: Figures): readonly Target[] {
  const { throughput, half, idle, reviews } = figures;
  const median = (name: ContenderName, figure: 'perSecond' | 'loadedBytes') =>
    spreadOf(throughput, name, figure)?.median ?? Number.NaN;
  const perSecond = (name: ContenderName) => median(name, 'perSecond');
  const loaded = (name: ContenderName) => median(name, 'loadedBytes');
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
    atMost('Resident memory under load, to one INSERT each', loaded('gatehouse') / loaded('koa'), 2, '', 2),
    atMost('Webhook to status, median', reviews.webhookToStatus.median, MAX_STATUS_MS, ' ms', 0),
  ];
}
