import type { WorkerConfig } from '../config.ts';
import { closeRedis, makeRedis } from '../db/redis.ts';
import { startWorker } from '../jobs/worker.ts';
import { connectForge } from './forge.ts';
import { readPolicyFile } from './policy-file.ts';
import { type SharedParts, WAKE_CHANNEL } from './shared-parts.ts';

/** Starts the worker. Returns what stops it. */
export async function composeWorker(shared: SharedParts, worker: WorkerConfig): Promise<() => Promise<void>> {
  const { config, pool, redis, jobs, metrics, closers, log } = shared;
  const fallback = worker.policyFile === undefined ? undefined : await readPolicyFile(worker.policyFile);
  const forge = connectForge({ forge: config.forge, ...worker }, { redis, metrics, log });
  closers.add('forge', () => forge.close());
  const { wake, stop } = startWorker({ ...worker, forge, pool, fallback, enqueue: jobs.enqueue, metrics, log });
  // Where the start fails after this, nothing else would stop it.
  closers.add('worker', stop);

  // A connection of its own: one that listens can do nothing else.
  const listener = makeRedis(config.redisUrl, log);
  closers.add('redis listener', () => closeRedis(listener));
  listener.on('message', wake);
  listener.on('ready', () => {
    listener.subscribe(WAKE_CHANNEL).catch((err: unknown) => log.warn({ err }, 'cannot listen for wake-ups'));
    // What was said while nobody listened is not said again.
    wake();
  });
  return stop;
}
