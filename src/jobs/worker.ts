import { setTimeout as sleep } from 'node:timers/promises';
import { PgBoss } from 'pg-boss';
import { makeLackingCheck } from '../db/lacking.ts';
import { refuseUnusable } from '../db/probes.ts';
import { ForgeError } from '../forges/port/forge-error.ts';
import type { Origin } from '../forges/port/origin.ts';
import type { ReviewRequest } from '../forges/port/review-requests.ts';
import { type NewSpan, type OpenSpan, subjectAttributes, type Tracing } from '../tracing/tracing.ts';
import { attempt } from './attempt.ts';
import { watchForgeAccess } from './forge-access.ts';
import { isAnyUnpublished } from './publisher/unpublished.ts';
import { engineDatabase, refuseOtherEngine } from './queue/engine.ts';
import { holdJob } from './queue/hold-job.ts';
import { JOBS_SCHEMA, type Jobs, type Kind, keyOf, kindsOf, type RunningJob, singletonOptions } from './queue/queue.ts';
import { dueQueues, makeTaker, SPARE_SLOTS } from './queue/take-job.ts';
import { type JobDeps, QUEUES } from './queues.ts';
import { makeSlots } from './slots.ts';
import { isDue, recordDone } from './tables/progress.ts';

/** Runs the jobs of the queues until it is stopped. */
export interface Worker {
  /** Looks for jobs of these queues now instead of at the next poll; of all queues where none are named. */
  wake(kinds?: readonly string[]): void;
  /**
   * Takes no more jobs; those under way finish, or go back to their queue when that takes too long. A second call has
   * no effect.
   */
  stop(): Promise<void>;
}

export interface WorkerDeps extends Omit<JobDeps, 'access' | 'requestPeriodic' | 'requestResync' | 'stopping'> {
  /** Reviews at once. */
  readonly workerConcurrency: number;
  readonly tracing: Tracing;
}

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
export function startWorker(options: WorkerDeps): Worker {
  const { pool, log, forge, metrics } = options;
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
  const stopping = new AbortController();
  const access = watchForgeAccess({
    forge,
    metrics,
    log,
    onRegained: () => untilDone(() => requestPeriodic('resync')),
  });
  const deps: JobDeps = { ...options, access, enqueue, requestPeriodic, requestResync, stopping: stopping.signal };
  const slots = makeSlots({
    take: makeTaker(pool, (kind) => slots.left(kind, slotsOf(kind))),
    dueQueues: () => dueQueues(pool),
    run: (kind, job, abandon) => holdJob({ engine: boss, log }, job, (running) => runJob(kind, running), abandon),
    log,
  });
  const refuseLacking = makeLackingCheck();
  const timers: NodeJS.Timeout[] = [];

  function slotsOf(kind: string): number {
    return kind === 'review' ? options.workerConcurrency : 1;
  }

  async function enqueue(requests: readonly ReviewRequest[]): Promise<void> {
    await options.enqueue(requests);
    slots.wake(requests.map(({ kind }) => kind));
  }

  async function requestPeriodic(kind: Kind, data: object = {}): Promise<void> {
    await boss.send(kind, data, singletonOptions(kind));
  }

  /** What could not be queued does not count as done: it stays due. */
  async function requestResync(): Promise<void> {
    await requestPeriodic('resync');
    await recordDone(pool, 'resync');
  }

  async function requestResyncIf(isNeeded: () => Promise<boolean>): Promise<void> {
    if (await isNeeded()) {
      await requestResync();
    }
  }

  /** Whether it succeeded. */
  async function tried(request: () => Promise<void>): Promise<boolean> {
    try {
      await request();
      return true;
    } catch (err) {
      log.warn({ err }, 'could not queue a periodic job');
      return false;
    }
  }

  /** For what nothing else would request soon. */
  async function untilDone(request: () => Promise<void>): Promise<void> {
    while (!stopping.signal.aborted && !(await tried(request))) {
      await sleep(START_RETRY_MS, undefined, { ref: false });
    }
  }

  function runJob<K extends Kind>(kind: K, job: RunningJob<Jobs[K]>): Promise<void> {
    const { needsForge, run, giveUp } = QUEUES[kind];
    return options.tracing.run(jobSpan(kind, job), (span) => {
      const own = depsOf(deps, job.data, span);
      return attempt({ boss, pool, access, log: own.log }, job, {
        key: keyOf(QUEUES, kind, job.data),
        needsForge,
        run: () => failing(span, () => run(own, job)),
        ...(giveUp && { giveUp: (error: unknown) => giveUp(own, job, error) }),
      });
    });
  }

  async function start(): Promise<void> {
    // What a job cannot read or write fails each attempt, until it is a dead letter.
    await refuseUnusable(pool, refuseLacking);
    await refuseOtherEngine(pool);
    await boss.start();
    // In the background: a worker is ready without its forge.
    void access.check();
    await requestResync();
    // Replicas share the work: the engine keeps one waiting job of each key.
    await requestPeriodic('retention');
    // Last, for what fails is tried again from the beginning.
    slots.open(new Map(kindsOf(QUEUES).map((kind) => [kind, slotsOf(kind) + (kind === 'review' ? SPARE_SLOTS : 0)])));
  }

  function startTimers(): void {
    // Replicas start at different times: each looks often, and together they request one resync in `resyncMinutes`.
    const isResyncDue = () => isDue(pool, 'resync', options.resyncMinutes * (1 - 1 / RESYNC_LOOKS));
    const looksMs = (options.resyncMinutes * 60_000) / RESYNC_LOOKS;
    timers.push(setInterval(() => tried(() => requestResyncIf(isResyncDue)), looksMs));
    timers.push(setInterval(() => tried(() => requestPeriodic('retention')), RETENTION_MINUTES * 60_000));
    // A worker of the release before may have set statuses by another ENFORCE after the resync of this one's start.
    const isAny = () => isAnyUnpublished(options);
    timers.push(setTimeout(() => untilDone(() => requestResyncIf(isAny)), ENFORCEMENT_CHECK_MS));
  }

  async function startUntilStarted(): Promise<void> {
    let told = '';
    while (!stopping.signal.aborted) {
      try {
        await start();
        startTimers();
        return;
      } catch (err) {
        log[String(err) === told ? 'debug' : 'warn']({ err }, 'the worker cannot start yet');
        told = String(err);
        await boss.stop({ graceful: false, close: false });
        await sleep(START_RETRY_MS);
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
    await slots.stop(STOP_TIMEOUT_MS);
    await boss.stop({ graceful: false, close: false });
  }

  const starting = startUntilStarted();
  let stopped: Promise<void> | undefined;
  return {
    wake: slots.wake,
    stop() {
      stopped ??= stop();
      return stopped;
    },
  };
}

/** What a job logs and requests names the delivery that the job comes from, and belongs to its trace. */
function depsOf(deps: JobDeps, data: Jobs[Kind], { traceparent }: OpenSpan): JobDeps {
  const stored = originOf(data);
  if (stored === undefined) {
    return deps;
  }
  const origin = { ...stored, ...(traceparent !== undefined && { traceparent }) };
  return {
    ...deps,
    log: deps.log.child({ delivery: origin.delivery }),
    enqueue: (requests) => deps.enqueue(requests.map((request) => ({ origin, ...request }))),
  };
}

function originOf(data: Jobs[Kind]): Origin | undefined {
  return 'origin' in data ? data.origin : undefined;
}

/** Each attempt is a span of its own, in the trace of the delivery that requested the job. */
function jobSpan<K extends Kind>(kind: K, { id, data, retryCount }: RunningJob<Jobs[K]>): NewSpan {
  const origin = originOf(data);
  const repository = 'repository' in data ? data.repository : undefined;
  return {
    name: `process ${kind}`,
    kind: 'consumer',
    parent: origin?.traceparent,
    attributes: {
      'messaging.system': 'pg-boss',
      'messaging.operation.name': 'process',
      'messaging.operation.type': 'process',
      'messaging.destination.name': kind,
      'messaging.message.id': id,
      'gatehouse.attempt': retryCount + 1,
      'gatehouse.delivery': origin?.delivery,
      ...subjectAttributes(repository, 'number' in data ? data.number : undefined),
    },
  };
}

/** An attempt deals with its errors, and the span shows them. */
async function failing(span: OpenSpan, run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    span.fail(error instanceof ForgeError ? error.kind : error instanceof Error ? error.name : 'Error');
    throw error;
  }
}
