import { arch, cpus, loadavg, release, totalmem, type } from 'node:os';

/** How much is measured. The quick plan only shows that it works; its figures are no evidence. */
export interface Plan {
  readonly rounds: number;
  readonly connections: readonly number[];
  readonly warmupSeconds: number;
  readonly seconds: number;
  readonly reviews: number;
}

export const FULL: Plan = { rounds: 3, connections: [1, 16, 64, 256], warmupSeconds: 3, seconds: 3, reviews: 200 };
export const QUICK: Plan = { rounds: 2, connections: [64], warmupSeconds: 1, seconds: 1.5, reviews: 20 };

/** The number of connections of the targets. */
export const TARGET_CONNECTIONS = 64;

export type Say = (text: string) => void;

/** Tells the progress, with the seconds since the start. */
export const say: Say = (text) => {
  process.stderr.write(`${(performance.now() / 1_000).toFixed(0).padStart(5)} s  ${text}\n`);
};

/** The machine of the figures. */
export function describeMachine(): string {
  const all = cpus();
  const gib = Math.round(totalmem() / 1024 ** 3);
  return `${all.length} × ${all[0]?.model.trim()} (${arch()}), ${gib} GiB, ${type()} ${release()}, Node ${process.version}`;
}

/** The load average of the last minute: above the number of cores, the machine is busy. */
export function loadAverage(): string {
  return (loadavg()[0] ?? 0).toFixed(1);
}
