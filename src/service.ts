import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import type pg from 'pg';
import { readPolicyFile } from './commands/policy-file.ts';
import type { Config, DoorConfig, WorkerConfig } from './config.ts';
import { migrate, type Patience } from './db/migrate.ts';
import { makePool, makeProbePool } from './db/pool.ts';
import { probeDatabase, probeRedis } from './db/probes.ts';
import { makeRedis } from './db/redis.ts';
import { NewerSchemaError, readSchemaState } from './db/schema.ts';
import type { Forge } from './forges/forge.ts';
import { makeForge } from './forges/make-forge.ts';
import { makeApp } from './http/app.ts';
import { addHealthRoutes, makeHealth } from './http/health.ts';
import { addMetricsRoute } from './http/metrics-listener.ts';
import { closeConnections, listen, makeServer, stopListening } from './http/server.ts';
import { addWebhookRoute, type WebhookOptions } from './http/webhook.ts';
import { makeByteBudget } from './inbox/byte-budget.ts';
import { makeInbox } from './inbox/inbox.ts';
import { installJobs, type JobQueue, makeJobQueue } from './jobs/engine.ts';
import { REVIEW_QUEUE } from './jobs/queues.ts';
import { makeReplay } from './jobs/replay.ts';
import { startWorker } from './jobs/worker.ts';
import { type Closers, makeClosers } from './lifecycle.ts';
import { type Log, makeLog } from './log.ts';
import { type Metrics, makeMetrics } from './metrics.ts';
import { startSampler } from './sampler.ts';

/** A running process: a door, a worker, or both. */
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
/** For a command that wakes the workers once, and must not wait for a Redis that hangs. */
const WAKE_TIMEOUT_MS = 3_000;

/** What every part may stand on. */
interface Ground {
  readonly config: Config;
  readonly pool: pg.Pool;
  readonly redis: Redis;
  readonly jobs: JobQueue;
  readonly metrics: Metrics;
  readonly closers: Closers;
  readonly log: Log;
}

/**
 * The only place where the parts are put together. Throws {@link NewerSchemaError}, what a listener throws,
 * or what is wrong with the operator's policy file.
 */
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
    const ground: Ground = { config, pool, redis, jobs, metrics, closers, log };

    const health = makeHealth({
      // A database in which deliveries can be stored and their jobs cannot is of no use.
      database: async () => (await probeDatabase(probePool)) ?? jobs.fault(),
      redis: () => probeRedis(redis),
    });
    closers.add('sampler', startSampler({ health, queueStats: jobs.stats, metrics, log }));
    const webhook = config.door && makeDoor(ground, config.door, () => phase === 'closed');
    const stopWorker = config.worker && (await addWorker(ground, config.worker));

    const options = { log, metrics, isDraining };
    const metricsServer = makeServer(makeApp(options, (router) => addMetricsRoute(router, metrics.registry)));
    const metricsPort = await listen(metricsServer, config.metricsPort, config.host);
    closers.add('metrics listener', () => closeConnections(metricsServer, 0));
    const server = makeServer(
      makeApp(options, (router) => {
        addHealthRoutes(router, { health, isDraining });
        if (webhook !== undefined) addWebhookRoute(router, webhook);
      }),
    );
    const port = await listen(server, config.port, config.host);
    closers.add('listener', () => closeConnections(server, 0));
    const roles = [config.door && 'door', config.worker && 'worker'].filter((role) => role !== undefined);
    for (const role of roles) metrics.role.set({ role }, 1);
    log.info({ port, metricsPort, forge: config.forge, roles }, 'Gatehouse is listening');

    return {
      port,
      metricsPort,
      async drain() {
        phase = 'draining';
        log.info({ seconds: config.drainSeconds }, 'draining: not ready any more, still serving');
        // The worker needs no traffic to be led away from it: it takes no more jobs from now on.
        await Promise.all([stopWorker?.(), sleep(config.drainSeconds * 1_000)]);
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
export function migrateStores(databaseUrl: string, patience?: Patience): Promise<readonly string[]> {
  return migrate(databaseUrl, () => installJobs(databaseUrl), patience);
}

function makeDoor(
  { config, pool, redis, jobs, metrics, closers, log }: Ground,
  door: DoorConfig,
  isClosed: () => boolean,
) {
  const inbox = makeInbox({
    pool,
    enqueue: jobs.enqueue,
    wakeWorkers: () => wakeWorkers(redis, metrics),
    metrics,
    log,
  });
  closers.add('inbox', () => inbox.idle());
  return {
    secrets: { current: door.webhookSecret, previous: door.webhookSecretPrevious },
    forge: config.forge,
    bodyLimit: door.webhookBodyLimit,
    budget: makeByteBudget(Math.max(MIN_INFLIGHT_BYTES, 2 * door.webhookBodyLimit), (held) =>
      metrics.inflightBytes.set(held),
    ),
    inbox,
    isClosed,
    metrics,
    log,
  } satisfies WebhookOptions;
}

/** Returns what stops it. */
async function addWorker(ground: Ground, worker: WorkerConfig): Promise<() => Promise<void>> {
  const { config, pool, redis, jobs, metrics, closers, log } = ground;
  const fallback = worker.policyFile === undefined ? undefined : await readPolicyFile(worker.policyFile);
  const forge = connectForge({ forge: config.forge, ...worker }, { redis, metrics, log });
  closers.add('forge', () => forge.close());
  const { wake, stop } = startWorker({ ...worker, forge, pool, fallback, enqueue: jobs.enqueue, metrics, log });
  // Where the start fails after this, nothing else would stop it.
  closers.add('worker', stop);

  // A connection of its own: one that listens can do nothing else.
  const listener = makeRedis(config.redisUrl, log);
  closers.add('redis listener', () => listener.disconnect());
  listener.on('message', wake);
  listener.on('ready', () => {
    listener.subscribe(WAKE_CHANNEL).catch((err: unknown) => log.warn({ err }, 'cannot listen for wake-ups'));
    // What was said while nobody listened is not said again.
    wake();
  });
  return stop;
}

/** The forge as it is reached by the worker and by commands. */
export function connectForge(
  access: { readonly forge: Config['forge'] } & Pick<WorkerConfig, 'forgeUrl' | 'credentials'>,
  parts: { readonly redis?: Redis; readonly metrics?: Metrics; readonly log?: Log } = {},
): Forge {
  const { forge, forgeUrl: url, credentials } = access;
  const { metrics, ...others } = parts;
  const hooks = metrics && {
    onRequest: (seen: { forge: string; status: number | 'none'; cache: string }) => metrics.forgeRequests.inc(seen),
    onRateLimit: (seen: { forge: string; remaining: number }) =>
      metrics.forgeRateRemaining.set({ forge: seen.forge }, seen.remaining),
  };
  const common = { ...others, ...(hooks && { hooks }) };
  if (forge === 'github') return makeForge({ forge, url, credentials }, common);
  if (credentials.kind !== 'token') throw new Error(`${forge} takes a token`);
  return makeForge({ forge, url, credentials }, common);
}

/** The queues as `gatehouse replay` uses them. */
export function openReplay(pool: pg.Pool, redisUrl: string | undefined) {
  const log = makeLog('silent');
  return {
    ...makeReplay(pool, log),
    /** Whether the workers could be told; true where there is no Redis to tell them by. */
    async wakeWorkers(): Promise<boolean> {
      if (redisUrl === undefined) return true;
      const redis = makeRedis(redisUrl, log);
      try {
        await once(redis, 'ready', { signal: AbortSignal.timeout(WAKE_TIMEOUT_MS) });
        await redis.publish(WAKE_CHANNEL, REVIEW_QUEUE);
        return true;
      } catch {
        return false;
      } finally {
        redis.disconnect();
      }
    },
  };
}

/** A database that cannot be reached is no reason not to start: it may come, and readiness says so until then. */
async function refuseNewerSchema(probePool: pg.Pool): Promise<void> {
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
