import type { Both, ContenderName } from './contenders.ts';
import type { Latency, Storage } from './latency.ts';
import type { Reviews } from './reviews.ts';
import type { SlowForge } from './slow-forge.ts';
import { format } from './table.ts';
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
  readonly slowForge: SlowForge;
}

interface Target {
  readonly what: string;
  /** In the target's own unit. */
  readonly wanted: string;
  readonly got: string;
  readonly met: boolean;
}

/** Ten times what a thousand owners send, see docs/sizing.md. */
const MIN_PER_SECOND = 830;
/** Gitea, the most impatient forge, gives up after 5 s. */
const MAX_IDLE_P99_MS = 50;
const MAX_STATUS_MS = 100;

/** Gatehouse's targets, and whether this run reached them. */
export function judgeTargets(figures: Figures): readonly Target[] {
  const { throughput, half, idle, reviews } = figures;
  const median = (name: ContenderName, figure: 'perSecond' | 'loadedBytes' | 'databaseCpu') =>
    spreadOf(throughput, name, figure)?.median ?? Number.NaN;
  const ratio = (figure: Parameters<typeof median>[1]) => median('gatehouse', figure) / median('koa', figure);
  const perSecond = median('gatehouse', 'perSecond');
  return [
    {
      what: 'Deliveries a second',
      wanted: `≥ ${MIN_PER_SECOND}`,
      got: format(perSecond, 0),
      met: perSecond >= MIN_PER_SECOND,
    },
    atMost('PostgreSQL’s processor time, to one INSERT each', ratio('databaseCpu'), 0.25, ''),
    atMost('p99 at half load, to the p50 of one INSERT each', half.gatehouse.p99.median / half.koa.p50.median, 3, ''),
    atMost('Idle p99', idle.gatehouse.p99.median, MAX_IDLE_P99_MS, ' ms'),
    atMost('Resident memory under load, to one INSERT each', ratio('loadedBytes'), 2, ''),
    atMost('Webhook to status, median', reviews.webhookToStatus.median, MAX_STATUS_MS, ' ms'),
  ];
}

function atMost(what: string, value: number, most: number, unit: '' | ' ms'): Target {
  const digits = unit === '' ? 2 : 0;
  return { what, wanted: `≤ ${most}${unit}`, got: `${value.toFixed(digits)}${unit}`, met: value <= most };
}
