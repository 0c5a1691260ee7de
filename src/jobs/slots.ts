import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../log.ts';
import type { Jobs, Kind, TakenJob } from './queue/queue.ts';
import type { TakeJob } from './queue/take-job.ts';

export interface SlotDeps {
  readonly take: TakeJob;
  /** The queues in which a job may be taken. */
  readonly dueQueues: () => Promise<readonly string[]>;
  /** Runs a job to its end. `abandon` is aborted when it must not take any longer. */
  readonly run: <K extends Kind>(kind: K, job: TakenJob<Jobs[K]>, abandon: AbortSignal) => Promise<void>;
  readonly log: Log;
}

/** What takes the jobs of a queue one after the other. */
interface Slot {
  readonly kind: Kind;
  state: 'idle' | 'looking' | 'busy';
  /** It was woken since it last began to look for a job. */
  woken: boolean;
  /** While it waits. */
  wake: () => void;
}

/** For what no wake-up announces, as a retry, and for one that was lost. One look for all queues costs little. */
const POLL_MS = 2_000;

/**
 * A slot that finds a job wakes another one of its queue where more jobs wait, and looks again itself when the job has
 * ended.
 */
export function makeSlots({ take, dueQueues, run, log }: SlotDeps) {
  const slots: Slot[] = [];
  const loops: Promise<void>[] = [];
  const stopping = new AbortController();
  const abandon = new AbortController();

  async function poll(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        for (const kind of await dueQueues()) {
          // Not one that looks already: its look may hang.
          notify(slots.find((slot) => slot.kind === kind && slot.state === 'idle'));
        }
      } catch (err) {
        log.warn({ err }, 'job engine error');
      }
      await sleep(POLL_MS, undefined, { signal: stopping.signal, ref: false }).catch(() => {});
    }
  }

  async function work(slot: Slot): Promise<void> {
    while (!stopping.signal.aborted) {
      await untilWoken(slot);
      do {
        slot.woken = false;
      } while (!stopping.signal.aborted && (await takeAndRun(slot)));
    }
  }

  /** Whether there was a job. */
  async function takeAndRun(slot: Slot): Promise<boolean> {
    slot.state = 'looking';
    try {
      const job = await take(slot.kind);
      if (job === undefined) {
        return false;
      }
      slot.state = 'busy';
      // The look may be older than the job that it was woken for.
      if (job.othersWait || slot.woken) {
        wakeIdle(slot.kind);
      }
      await run(slot.kind, job, abandon.signal);
      return true;
    } catch (err) {
      log.warn({ err, queue: slot.kind }, 'job engine error');
      return false;
    } finally {
      slot.state = 'idle';
    }
  }

  async function untilWoken(slot: Slot): Promise<void> {
    if (!stopping.signal.aborted && !slot.woken) {
      const { promise, resolve } = Promise.withResolvers<void>();
      slot.wake = resolve;
      await promise;
    }
  }

  function notify(slot: Slot | undefined): void {
    if (slot !== undefined) {
      slot.woken = true;
      slot.wake();
    }
  }

  /**
   * One is enough: if it finds a job, it wakes the next. Where all are busy, each looks again when its job has ended.
   * One that looks already is as good, and looks again: a second look at the same time would be that of a spare slot.
   */
  function wakeIdle(kind: string): void {
    notify(slots.find((slot) => slot.kind === kind && slot.state !== 'busy'));
  }

  /** Wakes the slots of these queues, by default of all. Each look costs PostgreSQL as much as a small job. */
  function wake(kinds: readonly string[] = slots.map(({ kind }) => kind)): void {
    for (const kind of new Set(kinds)) {
      wakeIdle(kind);
    }
  }

  return {
    /** So many slots of each queue, which take jobs from now on. */
    open(counts: ReadonlyMap<Kind, number>): void {
      for (const [kind, count] of counts) {
        for (let index = 0; index < count; index++) {
          const slot: Slot = { kind, state: 'idle', woken: false, wake: () => {} };
          slots.push(slot);
          loops.push(work(slot));
        }
      }
      loops.push(poll());
    },
    /** How many of `count` slots have no job now. */
    left(kind: string, count: number): number {
      return count - slots.filter((slot) => slot.kind === kind && slot.state === 'busy').length;
    },
    wake,
    /** Takes no more jobs, and returns when those under way have ended. After `timeoutMs` they are abandoned. */
    async stop(timeoutMs: number): Promise<void> {
      stopping.abort();
      for (const slot of slots) {
        slot.wake();
      }
      const ended = Promise.all(loops);
      const timeout = new AbortController();
      const late = sleep(timeoutMs, undefined, { signal: timeout.signal }).then(
        () => abandon.abort(new Error('the worker has stopped')),
        () => {},
      );
      await Promise.race([ended, late]);
      timeout.abort();
      await ended;
    },
  };
}
