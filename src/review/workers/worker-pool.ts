import { createHash } from 'node:crypto';
import { extname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { deserialize, serialize } from 'node:v8';
import { Worker } from 'node:worker_threads';
import { LRUCache } from 'lru-cache';
import {
  type FromWorker,
  isFromWorker,
  type TaskInput,
  type TaskName,
  type TaskOutput,
  type ToWorker,
} from './messages.ts';

/** Processor time of one task, so that a busy machine ends no ordinary one; those take milliseconds. */
export const MAX_TASK_MS = 2_000;
/** Heap of one worker. The modules take about 20 MB of it. */
export const MAX_WORKER_HEAP_MB = 96;
const MAX_YOUNG_MB = 16;
/** In the npm package both files are compiled, to `.js`. */
const WORKER = new URL(`./worker${extname(import.meta.filename)}`, import.meta.url);
const MIN_CHECK_MS = 50;
/** Inputs that hit a limit and are not tried again; the oldest is forgotten first. */
const MAX_REMEMBERED = 1_000;
/** Outputs of {@link OF_TEXT}, so many bytes of them; what was not asked for longest is forgotten first. */
const MAX_KNOWN_BYTES = 16 * 1024 * 1024;
/**
 * What these say of a text depends on nothing but the text. Each review of a pull request brings the same one again,
 * and anybody can have it reviewed again and again.
 */
const OF_TEXT: readonly TaskName[] = ['parsePolicy', 'parseCases'];
/** A task that uses so much of its time is slow: ordinary ones take milliseconds. */
const SLOW_SHARE = 1 / 4;
/** How long its owner counts as slow. */
const SLOW_MS = 10 * 60_000;

/** What ended a task, now or when the same input was tried before. `size` is that of its output. */
export type Limit = 'time' | 'memory' | 'size';
export const LIMITS: readonly Limit[] = ['time', 'memory', 'size'];
/** `step` is the last one that the task had begun. */
interface OverLimit {
  readonly limit: Limit;
  readonly step: number;
}
export type TaskResult<Name extends TaskName> =
  | { readonly kind: 'done'; readonly output: TaskOutput<Name> }
  | ({ readonly kind: 'ended' } & OverLimit);

export interface WorkerPoolOptions {
  readonly size: number;
  readonly maxTaskMs?: number | undefined;
  /** Called when a task has hit a limit. */
  readonly onEnded?: (ended: { readonly task: TaskName; readonly owner: string; readonly limit: Limit }) => void;
}

export interface WorkerPool {
  /**
   * Runs a task in a worker. `owner` is the repository whose text it works on. One owner never holds all workers, and
   * neither do all those together that had a slow task recently: one worker is left to the others. Rejects when the
   * task throws.
   */
  run<Name extends TaskName>(owner: string, task: Name, input: TaskInput<Name>): Promise<TaskResult<Name>>;
  close(): Promise<void>;
}

interface Job {
  readonly owner: string;
  readonly task: TaskName;
  readonly input: Buffer;
  readonly digest: string;
  /** The output, as v8.serialize writes it. */
  readonly done: (output: Uint8Array) => void;
  readonly ended: (over: OverLimit) => void;
  readonly failed: (error: Error) => void;
}

interface PoolWorker {
  readonly thread: Worker;
  job: Job | undefined;
  step: number;
}

/**
 * Workers that live long, since a new one takes 200 ms to load its modules, and that are ended and replaced when a task
 * goes over its time or memory: nothing else stops a regular expression that is being compiled.
 */
export function makeWorkerPool({ size, maxTaskMs = MAX_TASK_MS, onEnded }: WorkerPoolOptions): WorkerPool {
  const allButOne = Math.max(1, size - 1);
  const workers = new Set<PoolWorker>();
  const queue: Job[] = [];
  const overLimit = new LRUCache<string, OverLimit>({ max: MAX_REMEMBERED });
  const outputs = new LRUCache<string, Uint8Array>({
    maxSize: MAX_KNOWN_BYTES,
    sizeCalculation: (output) => output.length,
  });
  /** The same input of an owner, as of many pull requests at once, is worked on once. */
  const underWay = new Map<string, Promise<unknown>>();
  const slowOwners = new LRUCache<string, true>({ max: MAX_REMEMBERED, ttl: SLOW_MS });
  let closed = false;

  function startWorker(): PoolWorker {
    const thread = new Worker(WORKER, {
      resourceLimits: { maxOldGenerationSizeMb: MAX_WORKER_HEAP_MB, maxYoungGenerationSizeMb: MAX_YOUNG_MB },
    });
    // An idle worker keeps no process from ending.
    thread.unref();
    const worker: PoolWorker = { thread, job: undefined, step: 0 };
    workers.add(worker);
    thread.on('message', (message: object) => {
      if (isFromWorker(message)) {
        receive(worker, message);
      }
    });
    thread.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') {
        endJob(worker, 'memory');
      } else {
        takeJob(worker)?.failed(error);
      }
      discard(worker);
    });
    thread.on('exit', () => {
      takeJob(worker)?.failed(new Error('the worker ended without an answer'));
      discard(worker);
    });
    return worker;
  }

  function receive(worker: PoolWorker, message: FromWorker): void {
    if (message.kind === 'started') {
      void watch(worker, message.before);
    } else if (message.kind === 'step') {
      worker.step = message.step;
    } else {
      if (message.kind === 'too-large') {
        endJob(worker, 'size');
      }
      const job = takeJob(worker);
      if (job !== undefined && message.usedMs > SLOW_SHARE * maxTaskMs) {
        slowOwners.set(job.owner, true);
      }
      if (message.kind === 'done') {
        job?.done(message.output);
      } else if (message.kind === 'failed') {
        job?.failed(new Error(`the task ${job.task} failed in its worker: ${message.error}`));
      }
      startJobs();
    }
  }

  /** Ends the task when its processor time is used up. `before`: what its worker had used when it began. */
  async function watch(worker: PoolWorker, before: NodeJS.CpuUsage): Promise<void> {
    const { job, thread } = worker;
    if (job === undefined) {
      return;
    }
    // A worker that cannot say what it has used is ending by itself, or must be ended.
    const usedMs = () =>
      thread.cpuUsage(before).then(
        ({ user, system }) => (user + system) / 1_000,
        () => maxTaskMs,
      );
    let leftMs = maxTaskMs;
    while (leftMs > 0) {
      await sleep(Math.max(leftMs, MIN_CHECK_MS), undefined, { ref: false });
      if (worker.job !== job) {
        return;
      }
      leftMs = maxTaskMs - (await usedMs());
    }
    if (worker.job === job) {
      endJob(worker, 'time');
      discard(worker);
    }
  }

  function takeJob(worker: PoolWorker): Job | undefined {
    const { job } = worker;
    worker.job = undefined;
    worker.thread.unref();
    return job;
  }

  function endJob(worker: PoolWorker, limit: Limit): void {
    const job = takeJob(worker);
    if (job === undefined) {
      return;
    }
    const over = { limit, step: worker.step };
    overLimit.set(job.digest, over);
    slowOwners.set(job.owner, true);
    onEnded?.({ task: job.task, owner: job.owner, limit });
    job.ended(over);
  }

  /** Ends a worker, and lets another one take its place when there is work for it. */
  function discard(worker: PoolWorker): void {
    if (workers.delete(worker)) {
      void worker.thread.terminate();
      startJobs();
    }
  }

  function startJobs(): void {
    for (let next = nextJob(); next !== undefined && !closed; next = nextJob()) {
      const worker = [...workers].find(({ job }) => job === undefined) ?? startWorker();
      queue.splice(queue.indexOf(next), 1);
      worker.job = next;
      worker.step = 0;
      worker.thread.ref();
      const message: ToWorker = { task: next.task, input: next.input };
      worker.thread.postMessage(message);
    }
  }

  /**
   * The next task whose owner may have another worker: of the account with the fewest workers, then of the owner with
   * the fewest, then the oldest.
   */
  function nextJob(): Job | undefined {
    const running = [...workers].flatMap(({ job }) => (job === undefined ? [] : [job.owner]));
    if (running.length >= size) {
      return undefined;
    }
    const count = (is: (owner: string) => boolean) => running.filter(is).length;
    const isSlow = (owner: string) => slowOwners.has(owner);
    // Those of the account decide, and then those of the owner.
    const held = ({ owner }: Job) =>
      count((other) => accountOf(other) === accountOf(owner)) * (size + 1) + count((other) => other === owner);
    const isAllowed = ({ owner }: Job) =>
      count((other) => other === owner) < allButOne && (!isSlow(owner) || count(isSlow) < allButOne);
    return queue
      .filter(isAllowed)
      .map((job) => ({ job, held: held(job) }))
      .toSorted((one, other) => one.held - other.held)
      .at(0)?.job;
  }

  return {
    async run(owner, task, input) {
      if (closed) {
        throw new Error('the workers have been closed');
      }
      const bytes = serialize(input);
      const digest = createHash('sha256').update(task).update(bytes).digest('base64');
      const cached = overLimit.get(digest);
      if (cached !== undefined) {
        return { kind: 'ended', ...cached };
      }
      const output = outputs.get(digest);
      if (output !== undefined) {
        return { kind: 'done', output: deserialize(output) };
      }
      // Shared with the same owner only: nobody waits behind the tasks of another one.
      const key = `${owner} ${digest}`;
      const other = underWay.get(key);
      if (other !== undefined) {
        return other as Promise<TaskResult<typeof task>>;
      }
      const result = Promise.withResolvers<TaskResult<typeof task>>();
      underWay.set(key, result.promise);
      queue.push({
        owner,
        task,
        input: bytes,
        digest,
        done(bytesOfOutput) {
          if (OF_TEXT.includes(task)) {
            outputs.set(digest, bytesOfOutput);
          }
          result.resolve({ kind: 'done', output: deserialize(bytesOfOutput) });
        },
        ended: (over) => result.resolve({ kind: 'ended', ...over }),
        failed: result.reject,
      });
      startJobs();
      try {
        return await result.promise;
      } finally {
        underWay.delete(key);
      }
    },
    async close() {
      closed = true;
      const error = new Error('the workers have been closed');
      for (const { failed } of queue.splice(0)) {
        failed(error);
      }
      for (const worker of workers) {
        takeJob(worker)?.failed(error);
      }
      await Promise.all([...workers].map(({ thread }) => thread.terminate()));
    },
  };
}

function accountOf(repository: string): string {
  return repository.split('/')[0] ?? '';
}
