/**
 * BullMQ behind Koa, with the worker in the same process, as BullMQ's guide "Going to production" shows it: the queue of a web
 * server without an offline queue, so that it fails fast; the worker with `maxRetriesPerRequest: null`; errors handled; retries.
 */
import { createServer } from 'node:http';
import { Queue, Worker } from 'bullmq';
import { announce } from './announce.ts';
import { signedApp } from './signed-app.ts';
import { CONCURRENCY, work } from './work.ts';

const QUEUE = 'deliveries';
const url = process.env['REDIS_URL'] ?? '';
// While Redis is down there is an error for every attempt to connect; the benchmark counts what happens to the deliveries.
const ignore = () => {};

const queue = new Queue(QUEUE, {
  connection: { url, enableOfflineQueue: false },
  defaultJobOptions: {
    attempts: 3,
    backoff: { type: 'exponential', delay: 1_000 },
    removeOnComplete: 1_000,
    removeOnFail: 5_000,
  },
});
queue.on('error', ignore);
const worker = new Worker(QUEUE, async ({ data }) => work(data.deliveryId), {
  connection: { url, maxRetriesPerRequest: null },
  concurrency: CONCURRENCY,
});
worker.on('error', ignore);

const app = signedApp(async (ctx) => {
  const deliveryId = ctx.get('X-GitHub-Delivery');
  const payload: unknown = ctx.request.body;
  try {
    await queue.add(ctx.get('X-GitHub-Event'), { deliveryId, payload }, { jobId: deliveryId });
    ctx.body = { received: true };
  } catch {
    ctx.throw(503);
  }
});
announce(createServer(app.callback()));
