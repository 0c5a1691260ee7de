/** How much is measured. The quick plan only shows that it works; its figures are no evidence. */
export interface Plan {
  readonly rounds: number;
  readonly connections: readonly number[];
  readonly warmupSeconds: number;
  readonly seconds: number;
  readonly starts: number;
  readonly reviews: number;
}

export const FULL: Plan = {
  rounds: 3,
  connections: [1, 16, 64, 256],
  warmupSeconds: 3,
  seconds: 3,
  starts: 5,
  reviews: 200,
};

export const QUICK: Plan = { rounds: 2, connections: [64], warmupSeconds: 1, seconds: 1.5, starts: 2, reviews: 20 };

/** The number of connections of the targets. */
export const TARGET_CONNECTIONS = 64;

export type Say = (text: string) => void;
