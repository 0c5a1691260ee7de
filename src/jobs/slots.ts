import type { JobWithMetadata } from 'pg-boss';
import { othersWaited } from './queue/fair-order.ts';
import type { Jobs, Kind } from './queue/queue.ts';

/** What runs the jobs that a slot takes. */
export type Work<K extends Kind> = (jobs: JobWithMetadata<Jobs[K]>[]) => Promise<void>;

/** The job engine, as slots use it. */
interface Engine {
  /** Takes jobs of the queue one after the other, at a poll or when it is notified. Returns the id to notify. */
  open<K extends Kind>(kind: K, work: Work<K>): Promise<string>;
  /** Makes it look for a job now. */
  notify(id: string): void;
}

/** What takes the jobs of a queue one after the other. */
interface Slot {
  id: string;
  readonly kind: Kind;
  busy: boolean;
}

/**
 * A slot that finds a job wakes another one of its queue where more jobs wait, and looks again itself when the job has
 * ended.
 */
export function makeSlots(engine: Engine) {
  const slots: Slot[] = [];

  async function open<K extends Kind>(kind: K, work: (job: JobWithMetadata<Jobs[K]>) => Promise<void>): Promise<void> {
    const slot: Slot = { id: '', kind, busy: false };
    slot.id = await engine.open(kind, async (jobs: JobWithMetadata<Jobs[K]>[]) => {
      slot.busy = true;
      if (jobs.some(othersWaited)) {
        wakeIdle(kind);
      }
      try {
        for (const job of jobs) {
          await work(job);
        }
      } finally {
        slot.busy = false;
        engine.notify(slot.id);
      }
    });
    slots.push(slot);
  }

  /**
   * One is enough: if it finds a job, it wakes the next. Where all are busy, each looks again when its job has ended.
   */
  function wakeIdle(kind: string): void {
    const idle = slots.find((slot) => slot.kind === kind && !slot.busy);
    if (idle !== undefined) {
      engine.notify(idle.id);
    }
  }

  return {
    open,
    /** How many of `count` slots have no job now. */
    left(kind: string, count: number): number {
      return count - slots.filter((slot) => slot.kind === kind && slot.busy).length;
    },
    /** Wakes the slots of these queues, by default of all. Each look costs PostgreSQL as much as a small job. */
    wake(kinds: readonly string[] = slots.map(({ kind }) => kind)) {
      for (const kind of new Set(kinds)) {
        wakeIdle(kind);
      }
    },
    forget() {
      slots.length = 0;
    },
  };
}
