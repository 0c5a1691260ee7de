import { timingSafeEqual } from 'node:crypto';
import Koa from 'koa';
import { koaBody } from 'koa-body';
import { signatureOf } from '../../test/helpers/signature.ts';
import { SECRET } from './announce.ts';

/** What most teams write: Koa, the body parsed by koa-body, its signature verified, and then their own. */
export function signedApp(handle: (ctx: Koa.Context) => Promise<void> | void): Koa {
  const app = new Koa();
  app.use(koaBody({ jsonLimit: '25mb', includeUnparsed: true }));
  app.use(async (ctx) => {
    const expected = Buffer.from(signatureOf(ctx.request.rawBody ?? '', SECRET));
    const sent = Buffer.from(ctx.get('X-Hub-Signature-256'));
    if (sent.length !== expected.length || !timingSafeEqual(sent, expected)) {
      ctx.throw(401);
    }
    await handle(ctx);
  });
  return app;
}
