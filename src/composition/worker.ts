import { OUTCOMES } from '../audit/merges.ts';
import type { WorkerConfig } from '../config/config.ts';
import { readInstallation, saveInstallation } from '../db/installations.ts';
import { closeRedis, makeRedis } from '../db/redis.ts';
import { makeBaselines, noBaselines } from '../jobs/resync/baselines.ts';
import { readPresentRules } from '../jobs/resync/other-rules.ts';
import { countNoneObserved } from '../jobs/review/count-observed.ts';
import { countNoneStale } from '../jobs/review/count-stale.ts';
import { makeJudgingLimit } from '../jobs/review/judging-limit.ts';
import { rememberExtended } from '../jobs/tables/extended-repositories.ts';
import { startWorker } from '../jobs/worker.ts';
import { TASK_NAMES } from '../review/workers/messages.ts';
import { makeReviewWorkers, type ReviewWorkers } from '../review/workers/review-workers.ts';
import { LIMITS } from '../review/workers/worker-pool.ts';
import { connectForge } from './forge.ts';
import { readPolicyFile } from './policy-file.ts';
import { type SharedDeps, WAKE_CHANNEL } from './shared-deps.ts';

/** Starts the worker. Returns what stops it. */
export async function composeWorker(shared: SharedDeps, worker: WorkerConfig): Promise<() => Promise<void>> {
  const { config, pool, redis, jobs, metrics, tracing, closers, log, patience } = shared;
  const workers = shared.workers ?? startWorkers(shared);
  for (const task of TASK_NAMES) {
    for (const limit of LIMITS) {
      metrics.tasksEnded.inc({ task, limit }, 0);
    }
  }
  countNoneObserved(metrics);
  for (const outcome of OUTCOMES) {
    metrics.merges.inc({ outcome }, 0);
  }
  countNoneStale(metrics);
  metrics.enforcementOff.set(worker.enforce ? 0 : 1);
  if (!worker.enforce) {
    log.warn('ENFORCE=false: rules are judged and shown, but every status is success. Gatehouse blocks no merge');
  }
  const fallback = worker.policyFile === undefined ? undefined : await readPolicyFile(worker.policyFile, workers);
  const installations = {
    find: (owner: string) => readInstallation(pool, owner),
    save: (owner: string, id: number) => saveInstallation(pool, owner, id),
  };
  const access = { forge: config.forge, ...worker };
  const forge = connectForge(access, { redis, installations, metrics, tracing, log, patience });
  closers.add('forge', () => forge.close());
  const { policyRepository: name } = worker;
  const baselines = name === undefined ? noBaselines(pool) : makeBaselines({ forge, pool, workers, name, log });
  const isMeant = rememberExtended(pool, log);
  const { statusContext } = config;
  const present = { forge, fallback, baselineOf: baselines.of, isMeant };
  const { wake, stop } = startWorker({
    // By name: a setting with the name of an optional dependency would be taken for it.
    enforce: worker.enforce,
    workerConcurrency: worker.workerConcurrency,
    resyncMinutes: worker.resyncMinutes,
    retentionDays: worker.retentionDays,
    auditDays: worker.auditDays,
    statusContext,
    forge,
    workers,
    pool,
    fallback,
    baselines,
    baselineOf: baselines.of,
    isMeant,
    judgingLimit: makeJudgingLimit(),
    presentRules: () => readPresentRules(present),
    enqueue: jobs.enqueue,
    metrics,
    tracing,
    log,
  });
  // Where the start fails after this, nothing else would stop it.
  closers.add('worker', stop);

  // A connection of its own: a subscribed one can send no other commands.
  const listener = makeRedis(config.redisUrl, log, patience);
  closers.add('redis listener', () => closeRedis(listener));
  listener.on('message', (_channel, kinds) => wake(kinds.split(' ')));
  listener.on('ready', () => {
    listener.subscribe(WAKE_CHANNEL).catch((err: unknown) => log.warn({ err }, 'cannot listen for wake-ups'));
    // Messages published while nobody listened are lost.
    wake();
  });
  return stop;
}

function startWorkers({ metrics, closers, log, maxTaskMs }: SharedDeps): ReviewWorkers {
  const workers = makeReviewWorkers({
    maxTaskMs,
    onEnded({ task, owner, limit }) {
      metrics.tasksEnded.inc({ task, limit });
      log.warn({ repository: owner, task, limit }, 'work on a repository’s policy was ended: it went over its limit');
    },
  });
  closers.add('review workers', () => workers.close());
  return workers;
}
