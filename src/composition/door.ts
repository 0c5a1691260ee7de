import type { Redis } from 'ioredis';
import type pg from 'pg';
import type { DoorConfig } from '../config/config.ts';
import { isContextOf } from '../forges/port/status-context.ts';
import type { WebhookOptions } from '../http/webhook.ts';
import { makeByteBudget } from '../inbox/byte-budget.ts';
import { makeInbox } from '../inbox/inbox.ts';
import { makeInstallationRecorder } from '../inbox/installations.ts';
import type { StoringHealth } from '../inbox/storing-health.ts';
import { forgetDone } from '../jobs/tables/progress.ts';
import { forgetTimes } from '../jobs/tables/reviews.ts';
import type { Metrics } from '../metrics.ts';
import { type SharedDeps, WAKE_CHANNEL, wakeMessage } from './shared-deps.ts';

/** Bodies in memory at once. Large bodies share half of it, so the largest that is accepted must fit in there. */
const MIN_INFLIGHT_BYTES = 64 * 1024 * 1024;

/** The door's parts, as far as its route needs to know them. */
export function composeDoor(
  { config, pool: sharedPool, redis, jobs, refuseLacking, metrics, tracing, closers, log, patience }: SharedDeps,
  door: DoorConfig,
  /** A pool made by `makeInboxPool`. */
  pool: pg.Pool,
  storing: StoringHealth,
  isClosed: () => boolean,
) {
  const inbox = makeInbox({
    pool,
    refuseLacking,
    jobStatements: jobs.statements,
    wakeWorkers: (requests) =>
      wakeWorkers(
        redis,
        metrics,
        requests.map(({ kind }) => kind),
      ),
    storing,
    metrics,
    log,
    patience,
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
    requestResync: async (appeared) => {
      if (appeared?.length === 0) {
        await forgetDone(sharedPool, 'list-repositories');
      } else if (appeared !== undefined) {
        await forgetTimes(sharedPool, appeared);
      }
      await jobs.requestResync();
      wakeWorkers(redis, metrics, ['resync']);
    },
    isOwnContext: (context) => isContextOf(config.statusContext, context),
    onInstallation: makeInstallationRecorder(sharedPool, log),
    isClosed,
    metrics,
    tracing,
    log,
  } satisfies WebhookOptions;
}

/** Long after it nobody asks when the workers were woken last. */
const WOKEN_MS = 3_600_000;

/**
 * Workers also poll, so a lost message only costs time. The write tells a primary from a replica, which takes messages
 * that no worker hears: it makes the connection lead to the primary again.
 */
function wakeWorkers(redis: Redis, metrics: Metrics, kinds: readonly string[]): void {
  redis.set(WAKE_CHANNEL, '', 'PX', WOKEN_MS).catch(() => {});
  redis.publish(WAKE_CHANNEL, wakeMessage(kinds)).then(
    () => metrics.wakeups.inc({ outcome: 'sent' }),
    () => metrics.wakeups.inc({ outcome: 'failed' }),
  );
}
