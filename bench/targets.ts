import type { StepsOfReviews } from '../test/helpers/count-steps.ts';
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
  readonly steps: StepsOfReviews;
}

interface Target {
  readonly what: string;
  /** What a user has of it. */
  readonly why: string;
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
      why: 'One process takes ten times what a thousand owners send',
      wanted: `≥ ${MIN_PER_SECOND}`,
      got: format(perSecond, 0),
      met: perSecond >= MIN_PER_SECOND,
    },
    atMost(
      'PostgreSQL’s processor time, to one INSERT each',
      'The database is what cannot be added to',
      ratio('databaseCpu'),
      0.25,
      '',
      2,
    ),
    atMost(
      'p99 at half load, to the p50 of one INSERT each',
      'Who waits longest waits no longer than others do there',
      half.gatehouse.p99.median / half.koa.p50.median,
      3,
      '',
      2,
    ),
    atMost(
      'Idle p99',
      'A hundredth of the time after which a forge gives up',
      idle.gatehouse.p99.median,
      MAX_IDLE_P99_MS,
      ' ms',
      0,
    ),
    atMost(
      'Resident memory under load, to one INSERT each',
      'A door fits where a small service does',
      ratio('loadedBytes'),
      2,
      '',
      2,
    ),
    atMost(
      'Webhook to status, median',
      'Nobody sees that it takes time',
      reviews.webhookToStatus.median,
      MAX_STATUS_MS,
      ' ms',
      0,
    ),
  ];
}

function atMost(what: string, why: string, value: number, most: number, unit: string, digits: number): Target {
  return { what, why, wanted: `≤ ${most}${unit}`, got: `${value.toFixed(digits)}${unit}`, met: value <= most };
}
