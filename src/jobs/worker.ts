import { type JobWithMetadata, PgBoss } from 'pg-boss';
import { dropOldPartitions } from '../audit/partitions.ts';
import type { ReviewRequest } from '../forges/port/events.ts';
import { attempt, type Work } from './attempt.ts';
import { watchForgeAccess } from './forge-access.ts';
import { engineDatabase } from './queue/engine.ts';
import {
  COMMAND_QUEUE,
  COMMIT_QUEUE,
  type CommandJob,
  type CommitJob,
  commandKey,
  commitKey,
  JOBS_SCHEMA,
  MERGE_GROUP_QUEUE,
  type MergeGroupJob,
  mergeGroupKey,
  REPOSITORY_QUEUE,
  RESYNC_QUEUE,
  RETENTION_QUEUE,
  REVIEW_QUEUE,
  type RepositoryJob,
  type ResyncJob,
  type ReviewJob,
  repositoryKey,
  reviewKey,
} from './queue/queues.ts';
import type { Baselines } from './resync/baselines.ts';
import type { PresentRules } from './resync/outdated-reviews.ts';
import { recoverDeliveries } from './resync/recover-deliveries.ts';
import { resync } from './resync/resync.ts';
import { reviewRepository } from './resync/review-repository.ts';
import { applyRetention } from './retention.ts';
import { reportGivenUp } from './review/report-given-up.ts';
import { reviewCommit } from './review/review-commit.ts';
import { reportGroupGivenUp, reviewMergeGroup } from './review/review-merge-group.ts';
import { type ReviewParts, reviewPullRequest } from './review/review-pull-request.ts';
import { runCommand } from './review/run-command.ts';
import { isAnySetWithOtherEnforcement } from './tables/posted-statuses.ts';
import { isDue, recordDone } from './tables/progress.ts';

/** Runs the jobs of the queues until it is stopped. */
export interface Worker {
  /** Looks for jobs now instead of at the next poll. */
  wake(): void;
  /** Takes no more jobs; those under way finish, or go back to their queue when that takes too long. A second call has no effect. */
  stop(): Promise<void>;
}

export interface WorkerParts extends ReviewParts {
  readonly enqueue: (requests: readonly ReviewRequest[]) => Promise<void>;
  /** Reviews at once. */
  readonly concurrency: number;
  readonly baselines: Baselines;
  /** What the rules are from now on: each time read anew. */
  readonly presentRules: () => PresentRules;
  readonly resyncMinutes: number;
  readonly retentionDays: number;
  readonly auditDays: number;
}

/** The fallback for a wake-up that was lost. */
const POLL_SECONDS = 2;
const HEARTBEAT_REFRESH_SECONDS = 5;
const POLLING = {
  pollingIntervalSeconds: POLL_SECONDS,
  heartbeatRefreshSeconds: HEARTBEAT_REFRESH_SECONDS,
  includeMetadata: true,
} as const;
/** How often the engine looks for jobs whose worker is gone. */
const SUPERVISE_SECONDS = 10;
/** How often the engine deletes finished jobs: often, so that each time there are few. */
const MAINTAIN_SECONDS = 60;
const RETENTION_MINUTES = 60;
/** How often a worker looks, in the time between two resyncs, whether the next is due. */
const RESYNC_LOOKS = 15;
const STOP_TIMEOUT_MS = 20_000;
const START_RETRY_MS = 1_000;
/** By then, the workers of the release before have ended: they have up to a minute to finish their reviews. */
const ENFORCEMENT_CHECK_MS = 120_000;

/** Starts at once, and retries until the database answers. */
export function startWorker(parts: WorkerParts): Worker {
  const { pool, log, forge, concurrency, baselines, presentRules } = parts;
  const boss = new PgBoss({
    db: engineDatabase(pool),
    schema: JOBS_SCHEMA,
    migrate: false,
    schedule: false,
    superviseIntervalSeconds: SUPERVISE_SECONDS,
    monitorIntervalSeconds: SUPERVISE_SECONDS,
    maintenanceIntervalSeconds: MAINTAIN_SECONDS,
  });
  boss.on('error', (err) => log.warn({ err }, 'job engine error'));
  const access = watchForgeAccess({ forge, metrics: parts.metrics, log, onRegained: () => askPeriodic(RESYNC_QUEUE) });
  const attempts = { boss, pool, access, log };
  const reviewers: string[] = [];
  /** Those of the other queues that deliveries put jobs in. */
  const wakeable: string[] = [];
  const busy = new Set<string>();
  const timers: NodeJS.Timeout[] = [];
  const stopping = new AbortController();

  const enqueue = async (requests: readonly ReviewRequest[]) => {
    await parts.enqueue(requests);
    wake();
  };
  const wake = () => {
    for (const id of [...reviewers, ...wakeable]) {
      boss.notifyWorker(id);
    }
  };
  const wakeOne = () => {
    const idle = reviewers.find((id) => !busy.has(id));
    if (idle !== undefined) {
      boss.notifyWorker(idle);
    }
  };

  /** A reviewer that finds a job wakes another, and polls again itself when the job has ended. */
  async function review(id: string, jobs: readonly JobWithMetadata<ReviewJob>[]): Promise<void> {
    busy.add(id);
    wakeOne();
    try {
      for (const job of jobs) {
        await attempt(attempts, job, {
          key: reviewKey(job.data),
          run: () => runReview(job),
          giveUp: (error) => reportGivenUp(parts, job.data, error, job.createdOn, job.signal),
        });
      }
    } finally {
      busy.delete(id);
      boss.notifyWorker(id);
    }
  }

  async function runReview({ data, createdOn, signal }: JobWithMetadata<ReviewJob>): Promise<void> {
    if ((await reviewPullRequest(parts, data, createdOn, signal)) === 'overtaken') {
      // The newer one may be cut short before it writes. When it was not, one more review writes nothing.
      await enqueue([{ kind: 'review', ...data }]);
    }
  }

  /** Takes the jobs of a queue that deliveries put jobs in, and looks for the next one when one has ended. */
  async function workOn<Job extends object>(queue: string, workOf: (job: JobWithMetadata<Job>) => Work): Promise<void> {
    const id: string = await boss.work(
      queue,
      { ...POLLING, groupConcurrency: 1 },
      async (jobs: JobWithMetadata<Job>[]) => {
        for (const job of jobs) {
          await attempt(attempts, job, workOf(job)).finally(() => boss.notifyWorker(id));
        }
      },
    );
    wakeable.push(id);
  }

  async function start(): Promise<void> {
    await boss.start();
    // In the background: a worker is ready without its forge.
    void access.check();
    for (let index = 0; index < concurrency; index++) {
      const id: string = await boss.work(
        REVIEW_QUEUE,
        { ...POLLING, groupConcurrency: 1 },
        (jobs: JobWithMetadata<ReviewJob>[]) => review(id, jobs),
      );
      reviewers.push(id);
    }
    await workOn<RepositoryJob>(REPOSITORY_QUEUE, ({ data }) => ({
      key: repositoryKey(data),
      run: () => reviewRepository({ pool, rules: presentRules(), enqueue, baselines, requestResync }, data),
    }));
    await workOn<CommitJob>(COMMIT_QUEUE, ({ data }) => ({
      key: commitKey(data),
      run: () => reviewCommit({ ...parts, enqueue }, data),
    }));
    await workOn<MergeGroupJob>(MERGE_GROUP_QUEUE, ({ data, createdOn, signal }) => ({
      key: mergeGroupKey(data),
      run: () => reviewMergeGroup(parts, data, createdOn, signal),
      giveUp: (error) => reportGroupGivenUp(parts, data, error, createdOn, signal),
    }));
    await workOn<CommandJob>(COMMAND_QUEUE, ({ data }) => ({
      key: commandKey(data),
      run: () => runCommand({ ...parts, enqueue }, data),
    }));
    await boss.work(RESYNC_QUEUE, POLLING, async (jobs: JobWithMetadata<ResyncJob>[]) => {
      for (const job of jobs) {
        await attempt(attempts, job, { key: RESYNC_QUEUE, run: () => resyncPiece(job) });
      }
    });
    await boss.work(RETENTION_QUEUE, POLLING, applyRetentionPiece);
    await requestResync();
    // Replicas start at different times: each looks often, and together they request one resync in `resyncMinutes`.
    const isResyncDue = () => isDue(pool, 'resync', parts.resyncMinutes * (1 - 1 / RESYNC_LOOKS));
    timers.push(setInterval(() => requestResyncIf(isResyncDue), (parts.resyncMinutes * 60_000) / RESYNC_LOOKS));
    await repeat(RETENTION_QUEUE, RETENTION_MINUTES);
    // A worker of the release before may have set statuses by another ENFORCE after the resync of this one's start.
    const isAnyOutdated = () => isAnySetWithOtherEnforcement(pool, parts.enforce);
    timers.push(setTimeout(() => requestResyncIf(isAnyOutdated), ENFORCEMENT_CHECK_MS));
  }

  async function resyncPiece({ data, createdOn }: JobWithMetadata<ResyncJob>): Promise<void> {
    const round = { began: new Date(data.round ?? createdOn), new: data.round === undefined };
    const { statusContext, enforce, resyncMinutes: minutes, metrics } = parts;
    if (round.new) {
      await baselines.refreshAll();
    }
    const state = await resync(
      { forge, access, pool, statusContext, enforce, rules: presentRules(), enqueue, minutes, metrics, log },
      round,
    );
    if (state === 'unfinished') {
      await boss.send(RESYNC_QUEUE, { round: round.began.toISOString() }, { singletonKey: RESYNC_QUEUE });
    }
    if (state !== 'interrupted' && round.new) {
      await recoverDeliveries({ deliveries: forge.deliveries, pool, minutes, metrics, log });
    }
  }

  async function applyRetentionPiece(): Promise<void> {
    const state = await applyRetention({ pool, days: parts.retentionDays, log, signal: stopping.signal });
    if (state === 'unfinished' && !stopping.signal.aborted) {
      await askPeriodic(RETENTION_QUEUE);
    }
    await dropOldPartitions(pool, parts.auditDays, log);
  }

  /** Now, and then periodically. Replicas share the work: the engine keeps one waiting job per queue. */
  async function repeat(queue: string, minutes: number): Promise<void> {
    const ask = () => askPeriodic(queue);
    await ask();
    timers.push(setInterval(ask, minutes * 60_000));
  }

  async function requestResyncIf(isNeeded: () => Promise<boolean>): Promise<void> {
    try {
      if (await isNeeded()) {
        await requestResync();
      }
    } catch (err) {
      log.warn({ err }, 'could not look whether a resync is needed');
    }
  }

  async function requestResync(): Promise<void> {
    await askPeriodic(RESYNC_QUEUE);
    await recordDone(pool, 'resync');
  }

  async function askPeriodic(queue: string): Promise<void> {
    try {
      await boss.send(queue, {}, { singletonKey: queue });
    } catch (err) {
      log.warn({ err, queue }, 'could not queue a periodic job');
    }
  }

  async function startUntilStarted(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        await start();
        return;
      } catch (err) {
        log.warn({ err }, 'the worker cannot start yet');
        // Undo a start that failed half-way, or the next one would register everything twice.
        await boss.stop({ graceful: false, close: false });
        reviewers.length = 0;
        wakeable.length = 0;
        await new Promise((resolve) => setTimeout(resolve, START_RETRY_MS));
      }
    }
  }

  async function stop(): Promise<void> {
    stopping.abort();
    access.stop();
    // First, for a start that is under way still sets timers, which would keep the process from ending.
    await starting;
    for (const timer of timers) {
      clearInterval(timer);
    }
    await boss.stop({ graceful: true, timeout: STOP_TIMEOUT_MS, close: false });
  }

  const starting = startUntilStarted();
  let stopped: Promise<void> | undefined;
  return {
    wake,
    stop() {
      stopped ??= stop();
      return stopped;
    },
  };
}
