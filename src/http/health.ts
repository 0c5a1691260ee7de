import type Router from '@koa/router';
import type { Context } from 'koa';

/** A look at a dependency: resolves with undefined when it is up, else with a message fit for the public. */
export type DependencyCheck = () => Promise<string | undefined>;

export interface DependencyHealth {
  readonly status: 'up' | 'down';
  readonly message?: string;
}

export type DependencyName = 'database' | 'redis';
export type HealthReport = Readonly<Record<DependencyName, DependencyHealth>>;

/** Looks at every dependency. Callers that come while a look is under way share it. */
export function makeHealth(checks: Readonly<Record<DependencyName, DependencyCheck>>): () => Promise<HealthReport> {
  let running: Promise<HealthReport> | undefined;

  async function checkAll(): Promise<HealthReport> {
    try {
      const [database, redis] = await Promise.all([examine(checks.database), examine(checks.redis)]);
      return { database, redis };
    } finally {
      running = undefined;
    }
  }

  return () => {
    running ??= checkAll();
    return running;
  };
}

/** Longer than either check takes by its own limits: this only guards the answer against a defect of theirs. */
const CHECK_TIMEOUT_MS = 1_000;

async function examine(check: DependencyCheck): Promise<DependencyHealth> {
  const timeout = Promise.withResolvers<string>();
  const timer = setTimeout(() => timeout.resolve('did not answer in time'), CHECK_TIMEOUT_MS);
  try {
    const message = await Promise.race([check(), timeout.promise]);
    return message === undefined ? { status: 'up' } : { status: 'down', message };
  } finally {
    clearTimeout(timer);
  }
}

export interface HealthOptions {
  readonly health: () => Promise<HealthReport>;
  readonly isDraining: () => boolean;
}

/** `GET /health`, `/health/ready` and `/health/live`. Liveness looks at nothing: a restart mends no database. */
export function addHealthRoutes(router: Router, { health, isDraining }: HealthOptions): void {
  router.get('/health', async (ctx) => {
    answer(ctx, await health());
  });
  router.get('/health/ready', async (ctx) => {
    const report = await health();
    answer(ctx, isDraining() ? { ...report, service: { status: 'down', message: 'is shutting down' } } : report);
  });
  router.get('/health/live', (ctx) => {
    ctx.set('Cache-Control', 'no-store');
    ctx.body = { status: 'ok' };
  });
}

function answer(ctx: Context, report: Readonly<Record<string, DependencyHealth>>): void {
  const info = withStatus(report, 'up');
  const error = withStatus(report, 'down');
  const down = Object.keys(error).length > 0;
  ctx.set('Cache-Control', 'no-store');
  ctx.status = down ? 503 : 200;
  ctx.body = down ? { status: 'error', info, error } : { status: 'ok', info };
}

function withStatus(report: Readonly<Record<string, DependencyHealth>>, status: DependencyHealth['status']) {
  return Object.fromEntries(Object.entries(report).filter(([, dependency]) => dependency.status === status));
}
