import { createHmac, timingSafeEqual } from 'node:crypto';
import Koa from 'koa';
import { koaBody } from 'koa-body';
import { SECRET } from './announce.ts';

/** What most teams write: Koa, the body parsed by koa-body, its signature verified, and then their own. */
export function signedApp(handle: (ctx: Koa.Context) => Promise<void> | void): Koa {
  const app = new Koa();
  app.use(koaBody({ jsonLimit: '25mb', includeUnparsed: true }));
  app.use(async (ctx) => {
    const digest = `sha256=${createHmac('sha256', SECRET)
      .update(ctx.request.rawBody ?? '')
      .digest('hex')}`;
    const given = Buffer.from(ctx.get('X-Hub-Signature-256'));
    if (given.length !== digest.length || !timingSafeEqual(given, Buffer.from(digest))) {
      ctx.throw(401);
    }
    await handle(ctx);
  });
  return app;
}
