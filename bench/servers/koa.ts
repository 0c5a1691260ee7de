/** Koa with one INSERT into a jsonb column for every request, through a pool. */
import { createServer } from 'node:http';
import pg from 'pg';
import { announce } from './announce.ts';
import { signedApp } from './signed-app.ts';

const pool = new pg.Pool({ connectionString: process.env['DATABASE_URL'] });
await pool.query(`
  CREATE TABLE IF NOT EXISTS deliveries (
    id          text PRIMARY KEY,
    event       text NOT NULL,
    received_at timestamptz NOT NULL DEFAULT now(),
    payload     jsonb NOT NULL
  )`);

const app = signedApp(async (ctx) => {
  await pool.query('INSERT INTO deliveries (id, event, payload) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING', [
    ctx.get('X-GitHub-Delivery'),
    ctx.get('X-GitHub-Event'),
    ctx.request.body,
  ]);
  ctx.body = { received: true };
});
announce(createServer(app.callback()));
