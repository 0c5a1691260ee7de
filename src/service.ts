import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import type { Config } from './config.ts';
import { migrate, NewerSchemaError } from './db/migrate.ts';
import { makePool, makeProbePool } from './db/pool.ts';
import { probeDatabase, probeRedis } from './db/probes.ts';
import { makeRedis } from './db/redis.ts';
import { readSchemaState } from './db/schema.ts';
import { makeApp } from './http/app.ts';
import { addHealthRoutes, makeHealth } from './http/health.ts';
import { addMetricsRoute } from './http/metrics-listener.ts';
import { closeConnections, listen, makeServer, stopListening } from './http/server.ts';
import { addWebhookRoute } from './http/webhook.ts';
import { makeByteBudget } from './inbox/byte-budget.ts';
import { makeInbox } from './inbox/inbox.ts';
import { installJobs, makeJobQueue } from './jobs/engine.ts';
import { REVIEW_QUEUE } from './jobs/queues.ts';
import { makeClosers } from './lifecycle.ts';
import type { Log } from './log.ts';
import { type Metrics, makeMetrics } from './metrics.ts';
import { startSampler } from './sampler.ts';

/** A running door. */
export interface Service {
  readonly port: number;
  readonly metricsPort: number;
  /** Turns readiness off, serves on for the configured time, finishes what is in flight, and releases everything. */
  drain(): Promise<void>;
}

/** Bodies in memory at once. Large bodies share half of it, so the largest that is accepted must fit in there. */
const MIN_INFLIGHT_BYTES = 64 * 1024 * 1024;
/** For what is still being answered when the listener has closed: longer than the inbox's own deadline. */
const CLOSE_GRACE_MS = 10_000;

const WAKE_CHANNEL = 'gatehouse:wake';

/** The only place where the parts are put together. Throws {@link NewerSchemaError}, or what a listener throws. */
export async function startService(config: Config, log: Log): Promise<Service> {
  const closers = makeClosers(log);
  let phase: 'serving' | 'draining' | 'closed' = 'serving';
  const isDraining = () => phase !== 'serving';

  try {
    const metrics = makeMetrics();
    const pool = makePool(config.databaseUrl, log);
    closers.add('database', () => pool.end());
    const probePool = makeProbePool(config.databaseUrl);
    closers.add('database probe', () => probePool.end());
    await refuseNewerSchema(probePool);
    const redis = makeRedis(config.redisUrl, log);
    closers.add('redis', () => redis.disconnect());
    const jobs = makeJobQueue(pool, log);
    closers.add('jobs', () => jobs.stop());

    const inbox = makeInbox({
      pool,
      enqueueReviews: (client, refs) =>
        jobs.enqueueReviews(
          client,
          refs.map(({ repository, number }) => ({ repository, pullRequest: number })),
        ),
      wakeWorkers: () => wakeWorkers(redis, metrics),
      metrics,
      log,
    });
    closers.add('inbox', () => inbox.idle());
    const health = makeHealth({ database: () => probeDatabase(probePool), redis: () => probeRedis(redis) });
    closers.add('sampler', startSampler({ health, queueStats: jobs.stats, metrics, log }));

    const metricsServer = makeServer(
      makeApp({ log, metrics, isDraining }, (router) => addMetricsRoute(router, metrics.registry)),
    );
    const metricsPort = await listen(metricsServer, config.metricsPort, config.host);
    closers.add('metrics listener', () => closeConnections(metricsServer, 0));

    const server = makeServer(
      makeApp({ log, metrics, isDraining }, (router) => {
        addHealthRoutes(router, { health, isDraining });
        addWebhookRoute(router, {
          secrets: { current: config.webhookSecret, previous: config.webhookSecretPrevious },
          forge: config.forge,
          bodyLimit: config.webhookBodyLimit,
          budget: makeByteBudget(Math.max(MIN_INFLIGHT_BYTES, 2 * config.webhookBodyLimit), (held) =>
            metrics.inflightBytes.set(held),
          ),
          inbox,
          isClosed: () => phase === 'closed',
          metrics,
          log,
        });
      }),
    );
    const port = await listen(server, config.port, config.host);
    closers.add('listener', () => closeConnections(server, 0));
    log.info({ port, metricsPort, forge: config.forge }, 'Gatehouse is listening');

    return {
      port,
      metricsPort,
      async drain() {
        phase = 'draining';
        log.info({ seconds: config.drainSeconds }, 'draining: not ready any more, still serving');
        await sleep(config.drainSeconds * 1_000);
        await stopListening(server);
        phase = 'closed';
        await closeConnections(server, CLOSE_GRACE_MS);
        await closers.closeAll();
        log.info('drained');
      },
    };
  } catch (error) {
    await closers.closeAll();
    throw error;
  }
}

/** Runs every migration, the job engine's included. Returns the names of those that were applied. */
export function migrateStores(databaseUrl: string): Promise<readonly string[]> {
  return migrate(databaseUrl, () => installJobs(databaseUrl));
}

/** A database that cannot be reached is no reason not to start: it may come, and readiness says so until then. */
async function refuseNewerSchema(probePool: ReturnType<typeof makeProbePool>): Promise<void> {
  const state = await readSchemaState(probePool).catch(() => 'unknown');
  if (state === 'too-new') throw new NewerSchemaError();
}

/** Never the only way a job is found: workers poll too. */
function wakeWorkers(redis: Redis, metrics: Metrics): void {
  redis.publish(WAKE_CHANNEL, REVIEW_QUEUE).then(
    () => metrics.wakeups.inc({ outcome: 'sent' }),
    () => metrics.wakeups.inc({ outcome: 'failed' }),
  );
}
