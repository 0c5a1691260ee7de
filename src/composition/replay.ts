import { once } from 'node:events';
import type pg from 'pg';
import { closeRedis, makeRedis } from '../db/redis.ts';
import { kindsOf } from '../jobs/queue/queue.ts';
import { makeReplay } from '../jobs/queue/replay.ts';
import { QUEUES } from '../jobs/queues.ts';
import { makeLog } from '../log.ts';
import { WAKE_CHANNEL, wakeMessage } from './shared-deps.ts';

/** For a command that notifies the workers once and must not wait for a Redis that hangs. */
const WAKE_TIMEOUT_MS = 3_000;

/** The queues as `gatehouse replay` uses them. */
export function openReplay(pool: pg.Pool, redisUrl: string | undefined) {
  const log = makeLog('silent');
  return {
    ...makeReplay(pool, QUEUES, log),
    /** Whether the workers could be notified; true where there is no Redis. */
    async wakeWorkers(): Promise<boolean> {
      if (redisUrl === undefined) {
        return true;
      }
      const redis = makeRedis(redisUrl, log);
      try {
        await once(redis, 'ready', { signal: AbortSignal.timeout(WAKE_TIMEOUT_MS) });
        await redis.publish(WAKE_CHANNEL, wakeMessage(kindsOf(QUEUES)));
        return true;
      } catch {
        return false;
      } finally {
        closeRedis(redis);
      }
    },
  };
}
