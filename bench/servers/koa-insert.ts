/**
 * What most teams write: Koa, the body parsed by koa-body, its signature verified, and one INSERT into a jsonb
 * column for every request, through a pool.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import Koa from 'koa';
import { koaBody } from 'koa-body';
import pg from 'pg';
import { announce, SECRET } from './announce.ts';

const pool = new pg.Pool({ connectionString: process.env['DATABASE_URL'] });
await pool.query(`
  CREATE TABLE IF NOT EXISTS deliveries (
    id          text PRIMARY KEY,
    event       text NOT NULL,
    received_at timestamptz NOT NULL DEFAULT now(),
    payload     jsonb NOT NULL
  )`);

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
  await pool.query('INSERT INTO deliveries (id, event, payload) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING', [
    ctx.get('X-GitHub-Delivery'),
    ctx.get('X-GitHub-Event'),
    ctx.request.body,
  ]);
  ctx.body = { received: true };
});
announce(createServer(app.callback()));
