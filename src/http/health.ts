import { withTimeout } from '../common/timeout.ts';

/** Looks at a dependency: resolves with undefined when it is up, else with a message fit for the public. */
export type DependencyCheck = () => Promise<string | undefined>;

/**
 * A fault that shows without a check, such as that nothing could be stored for some seconds. Undefined: nothing.
 */
export type ObservedFault = () => string | undefined;

export interface DependencyHealth {
  readonly status: 'up' | 'down';
  readonly message?: string;
}

export type DependencyName = 'database' | 'redis';
export type HealthReport = Readonly<Record<DependencyName, DependencyHealth>>;

/**
 * How long a check may take before its dependency is down: as long as a delivery may take to be stored, because a
 * database that is slow still stores deliveries.
 */
export const CHECK_TIMEOUT_MS = 4_000;

/**
 * How long a caller waits for a check. Probes give up after a second or more, so a report has to be there within 1.5 s.
 */
const REPORT_WAIT_MS = 1_000;

/**
 * Checks every dependency, each on its own, so that a slow one does not delay the result of the other. Callers that
 * come while a check runs share it. When it takes longer than they can wait, they get the last finished result. What is
 * `observed` by then counts more than either. `patience` multiplies both limits.
 */
export function makeHealth(
  checks: Readonly<Record<DependencyName, DependencyCheck>>,
  observed: { readonly database?: ObservedFault } = {},
  patience = 1,
): () => Promise<HealthReport> {
  const database = makeDependencyHealth(checks.database, patience, observed.database);
  const redis = makeDependencyHealth(checks.redis, patience);
  return async () => {
    const [databaseHealth, redisHealth] = await Promise.all([database(), redis()]);
    return { database: databaseHealth, redis: redisHealth };
  };
}

function makeDependencyHealth(
  check: DependencyCheck,
  patience: number,
  observed: ObservedFault = () => undefined,
): () => Promise<DependencyHealth> {
  let finished: DependencyHealth = { status: 'down', message: 'has not answered yet' };
  let running: Promise<void> | undefined;

  async function run(): Promise<void> {
    const message = await withTimeout<string | undefined>(
      CHECK_TIMEOUT_MS * patience,
      check(),
      () => `did not answer within ${(CHECK_TIMEOUT_MS * patience) / 1_000} s`,
    ).catch(() => 'could not be checked');
    finished = message === undefined ? { status: 'up' } : { status: 'down', message };
    running = undefined;
  }

  return async () => {
    running ??= run();
    await withTimeout(REPORT_WAIT_MS * patience, running, () => {});
    const fault = observed();
    return fault === undefined ? finished : { status: 'down', message: fault };
  };
}
