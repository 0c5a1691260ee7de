import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { StoreUrl } from '../common/store-url.ts';
import type { Config, WorkerConfig } from '../config/config.ts';
import { makeLackingCheck } from '../db/lacking.ts';
import { makeInboxPool, makePool, makeProbePool } from '../db/pool.ts';
import { makePoolerCheck, refuseTransactionPooling } from '../db/pooler.ts';
import { PoolerError } from '../db/pooler-error.ts';
import { probeDatabase } from '../db/probes.ts';
import { closeRedis, makeRedis } from '../db/redis.ts';
import { makeRedisProbe } from '../db/redis-probe.ts';
import { NewerSchemaError, readSchemaState } from '../db/schema.ts';
import { onConnection } from '../db/transaction.ts';
import { makeApp } from '../http/app.ts';
import { CHECK_TIMEOUT_MS, makeHealth } from '../http/health.ts';
import { addHealthRoutes } from '../http/health-routes.ts';
import { addMetricsRoute } from '../http/metrics-route.ts';
import { makeReadiness } from '../http/readiness.ts';
import { closeConnections, LINGER_MS, listen, makeServer, stopListening } from '../http/server.ts';
import { addWebhookRoute } from '../http/webhook.ts';
import { probeStoring } from '../inbox/probe-storing.ts';
import { makeStoringHealth } from '../inbox/storing-health.ts';
import { makeJobQueue, refuseNewerEngine } from '../jobs/queue/engine.ts';
import { readQueueStats } from '../jobs/queue/queue-stats.ts';
import { QUEUES } from '../jobs/queues.ts';
import { oldestUnseenSuccess } from '../jobs/resync/turns.ts';
import { countBaselines } from '../jobs/tables/baselines.ts';
import { makeClosers } from '../lifecycle.ts';
import type { Log } from '../log.ts';
import { makeMetrics } from '../metrics.ts';
import { NO_TRACING, type Tracing } from '../tracing/tracing.ts';
import { composeDoor } from './door.ts';
import { startSampler } from './sampler.ts';
import type { SharedDeps } from './shared-deps.ts';

/** A running process: a door, a worker, or both. */
export interface Service {
  readonly port: number;
  readonly metricsPort: number;
  /** Turns readiness off, serves on for the configured time, finishes what is in flight, and releases everything. */
  drain(): Promise<void>;
}

/** What tests change. */
interface TestOptions extends Pick<SharedDeps, 'workers' | 'maxTaskMs' | 'patience'> {
  /** As {@link LINGER_MS}, which each of hundreds of doors would wait. */
  readonly lingerMs: number;
}

/** For what is still being answered when the listener has closed: longer than the inbox's own deadline. */
const CLOSE_GRACE_MS = 10_000;

/**
 * Composes the parts of a process. Throws {@link NewerSchemaError}, {@link PoolerError}, what a listener throws,
 * or what is wrong with the operator's policy file.
 */
export async function startService(
  config: Config,
  log: Log,
  { workers, maxTaskMs, patience = 1, lingerMs = LINGER_MS }: Partial<TestOptions> = {},
): Promise<Service> {
  const closers = makeClosers(log);
  let phase: 'serving' | 'draining' | 'closed' = 'serving';
  const isDraining = () => phase !== 'serving';

  try {
    const metrics = makeMetrics();
    const checkTimeoutMs = CHECK_TIMEOUT_MS * patience;
    const tracing = await openTracing(config, log);
    closers.add('traces', () => tracing.close());
    const pool = makePool(config.databaseUrl, log, patience);
    closers.add('database', () => pool.end());
    // The door's check shares the connection of its deliveries: readiness then meets what they meet.
    const checkedPool = (config.door ? makeInboxPool : makeProbePool)(config.databaseUrl, log, patience);
    closers.add('checked database', () => checkedPool.end());
    await refuseUnusableDatabase(config.databaseUrl, checkedPool, checkTimeoutMs);
    const pooler = makePoolerCheck(config.databaseUrl);
    const redis = makeRedis(config.redisUrl, log, patience);
    closers.add('redis', () => closeRedis(redis));
    const redisProbe = makeRedisProbe(config.redisUrl, checkTimeoutMs);
    closers.add('redis probe', () => redisProbe.close());
    const jobs = makeJobQueue(pool, QUEUES, log);
    closers.add('jobs', () => jobs.stop());
    const refuseLacking = makeLackingCheck();
    const others = { refuseLacking, workers, maxTaskMs, patience };
    const shared: SharedDeps = { config, pool, redis, jobs, metrics, tracing, closers, log, ...others };

    const storing = makeStoringHealth(() => void readiness());
    // Rolled back, so it need not exist.
    const probeJob = { kind: 'review', repository: 'gatehouse/probe', number: 1 } as const;
    const checkStoring = () =>
      storing.check(() => probeStoring(checkedPool, checkTimeoutMs, () => jobs.statements([probeJob])));
    const health = makeHealth(
      {
        // The database is only usable when deliveries and their jobs can be stored.
        database: async () =>
          (await probeDatabase(checkedPool, checkTimeoutMs, refuseLacking)) ??
          (await pooler()) ??
          (await jobs.fault()) ??
          checkStoring(),
        redis: async () => (await redisProbe.check())?.reason,
      },
      { database: storing.fault },
      patience,
    );
    const readiness = makeReadiness({ health, readyWithoutRedis: config.readyWithoutRedis, isDraining, metrics, log });
    const samples = {
      queueStats: () => readQueueStats(pool, QUEUES),
      baselines: () => countBaselines(pool),
      oldestUnseenSuccess: () => oldestUnseenSuccess(pool),
    };
    closers.add('sampler', startSampler({ readiness, ...samples, metrics, log }));
    const webhook = config.door && composeDoor(shared, config.door, checkedPool, storing, () => phase === 'closed');
    const stopWorker = config.worker && (await addWorker(shared, config.worker));

    const options = { log, metrics, isDraining };
    const metricsServer = makeServer(makeApp(options, (router) => addMetricsRoute(router, metrics.registry)));
    const metricsPort = await listen(metricsServer, config.metricsPort, config.host);
    closers.add('metrics listener', () => closeConnections(metricsServer, 0));
    const server = makeServer(
      makeApp(options, (router) => {
        addHealthRoutes(router, { health, readiness });
        if (webhook !== undefined) {
          addWebhookRoute(router, webhook);
        }
      }),
    );
    const port = await listen(server, config.port, config.host);
    closers.add('listener', () => closeConnections(server, 0));
    const roles = [config.door && 'door', config.worker && 'worker'].filter((role) => role !== undefined);
    for (const role of roles) {
      metrics.role.set({ role }, 1);
    }
    log.info({ port, metricsPort, forge: config.forge, roles }, 'Gatehouse is listening');

    return {
      port,
      metricsPort,
      async drain() {
        phase = 'draining';
        log.info({ seconds: config.drainSeconds }, 'draining: no longer ready, still serving');
        // The worker gets no traffic, so it need not drain: it takes no more jobs from now on.
        await Promise.all([stopWorker?.(), sleep(config.drainSeconds * 1_000)]);
        await stopListening(server, lingerMs);
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

/** Loaded on demand: a process without a worker needs no forge client, rules or YAML, nor the memory for them. */
async function addWorker(shared: SharedDeps, worker: WorkerConfig): Promise<() => Promise<void>> {
  const { composeWorker } = await import('./worker.ts');
  return composeWorker(shared, worker);
}

/** Loaded on demand: without a collector there is none of OpenTelemetry in the process. */
async function openTracing(config: Config, log: Log): Promise<Tracing> {
  const endpoint = config.otelExporterOtlpEndpoint;
  if (endpoint === undefined) {
    return NO_TRACING;
  }
  const { startTracing } = await import('../tracing/opentelemetry.ts');
  return startTracing({ endpoint, log });
}

/** An unreachable database does not prevent the start: it may come back, and readiness reports it until then. */
async function refuseUnusableDatabase(databaseUrl: StoreUrl, checkedPool: pg.Pool, timeoutMs: number): Promise<void> {
  try {
    await refuseTransactionPooling(databaseUrl);
    await onConnection(checkedPool, timeoutMs, async (client) => {
      if ((await readSchemaState(client)) === 'too-new') {
        throw new NewerSchemaError();
      }
      await refuseNewerEngine(client);
    });
  } catch (error) {
    if (error instanceof NewerSchemaError || error instanceof PoolerError) {
      throw error;
    }
  }
}
