import type { Reviews } from './reviews.ts';
import type { Latency, Storage } from './side-figures.ts';
import type { Spread } from './stats.ts';
import type { Throughput } from './throughput.ts';

/** Everything that one run measured. */
export interface Figures {
  readonly command: string;
  readonly machine: string;
  readonly stores: string;
  /** The machine's load when it began and when it ended. */
  readonly loads: readonly [string, string];
  readonly throughput: readonly Throughput[];
  /** Deliveries a second: half of what Gatehouse reached. */
  readonly halfRate: number;
  readonly half: Readonly<Record<'koa' | 'gatehouse', Latency>>;
  readonly idle: Readonly<Record<'koa' | 'gatehouse', Latency>>;
  readonly duplicates: Spread;
  readonly storage: Readonly<Record<'koa' | 'gatehouse', Storage>>;
  readonly starts: Readonly<Record<'koa' | 'gatehouse', Spread>>;
  readonly reviews: Reviews;
}
