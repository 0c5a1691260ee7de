import type Router from '@koa/router';
import type { Registry } from 'prom-client';

/** `GET /metrics` in the Prometheus text format. It reads memory only, so a scrape cannot hang on a store. */
export function addMetricsRoute(router: Router, registry: Registry): void {
  router.get('/metrics', async (ctx) => {
    ctx.set('Cache-Control', 'no-store');
    ctx.body = await registry.metrics();
    ctx.set('Content-Type', registry.contentType);
  });
}
