import type Router from '@koa/router';
import type { Context } from 'koa';
import type { DependencyHealth, HealthReport } from './health.ts';
import type { Readiness } from './readiness.ts';

export interface HealthRoutesOptions {
  readonly health: () => Promise<HealthReport>;
  readonly readiness: () => Promise<Readiness>;
}

/** `GET /health`, `/health/ready` and `/health/live`. Liveness checks no dependency: a restart repairs no database. */
export function addHealthRoutes(router: Router, { health, readiness }: HealthRoutesOptions): void {
  router.get('/health', async (ctx) => {
    const report = await health();
    answer(ctx, report, Object.values(report).every(isUp));
  });
  router.get('/health/ready', async (ctx) => {
    const { ready, report } = await readiness();
    answer(ctx, report, ready);
  });
  router.get('/health/live', (ctx) => {
    ctx.set('Cache-Control', 'no-store');
    ctx.body = { status: 'ok' };
  });
}

/** `error` is there when anything is down, even where the answer as a whole is 200. */
function answer(ctx: Context, report: Readonly<Record<string, DependencyHealth>>, ok: boolean): void {
  const entries = Object.entries(report);
  const info = Object.fromEntries(entries.filter(([, dependency]) => isUp(dependency)));
  const error = Object.fromEntries(entries.filter(([, dependency]) => !isUp(dependency)));
  ctx.set('Cache-Control', 'no-store');
  ctx.status = ok ? 200 : 503;
  ctx.body = { status: ok ? 'ok' : 'error', info, ...(Object.keys(error).length > 0 && { error }) };
}

function isUp({ status }: DependencyHealth): boolean {
  return status === 'up';
}
