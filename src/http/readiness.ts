import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import type { DependencyHealth, HealthReport } from './health.ts';

/** Whether this process wants traffic. */
export interface Readiness {
  readonly ready: boolean;
  readonly dependencies: HealthReport;
  /** What the readiness route reports: the dependencies, and the service itself while it shuts down. */
  readonly report: Readonly<Record<string, DependencyHealth>>;
}

export interface ReadinessOptions {
  readonly health: () => Promise<HealthReport>;
  readonly isDraining: () => boolean;
  /**
   * Redis is still checked and reported. The door stores deliveries without it, so it need not be taken out of the
   * Service.
   */
  readonly readyWithoutRedis: boolean;
  readonly metrics: Metrics;
  readonly log: Log;
}

/** Logs and counts every change of readiness, with its reason. */
export function makeReadiness(options: ReadinessOptions): () => Promise<Readiness> {
  const { health, isDraining, readyWithoutRedis, metrics, log } = options;
  for (const to of ['ready', 'unready']) {
    metrics.readinessChanges.inc({ to }, 0);
  }
  let wasReady: boolean | undefined;

  return async () => {
    const dependencies = await health();
    for (const [dependency, { status }] of Object.entries(dependencies)) {
      metrics.dependencyUp.set({ dependency }, status === 'up' ? 1 : 0);
    }
    const report = isDraining()
      ? { ...dependencies, service: { status: 'down', message: 'is shutting down' } as const }
      : dependencies;
    const reasons = Object.entries(report)
      .filter(([name, { status }]) => status === 'down' && !(name === 'redis' && readyWithoutRedis))
      .map(([name, { message }]) => `${name}: ${message}`);
    const ready = reasons.length === 0;
    if (ready !== wasReady) {
      wasReady = ready;
      metrics.readinessChanges.inc({ to: ready ? 'ready' : 'unready' });
      if (ready) {
        log.info('ready');
      } else {
        log.warn({ reasons }, 'not ready');
      }
    }
    return { ready, dependencies, report };
  };
}
