/** Whether deliveries can be stored, as the door finds out by storing them. */
export interface StoringHealth {
  /** A delivery was stored. */
  stored(): void;
  /** A delivery could not be stored, for a reason that is not its own. `handedInAt` is a `performance.now()`. */
  failed(handedInAt: number): void;
  /** Why nothing can be stored, or undefined. */
  fault(): string | undefined;
  /**
   * Where deliveries fail, tries `probe`, which writes: its success ends the fault. Returns why nothing can be stored.
   */
  check(probe: () => Promise<void>): Promise<string | undefined>;
}

/** Shorter interruptions, such as a lock or a restart, are what the sender's repeat is for. */
const DOWN_AFTER_MS = 3_000;
const FAULT = 'cannot store deliveries';

/** `onChange` is called when the fault begins, and when it has ended. Must not throw or wait. */
export function makeStoringHealth(onChange: () => void, now: () => number = () => performance.now()): StoringHealth {
  let lastStored = Number.NEGATIVE_INFINITY;
  let failingSince: number | undefined;
  let wasFaulty = false;

  function fault(): string | undefined {
    return failingSince !== undefined && now() - failingSince >= DOWN_AFTER_MS ? FAULT : undefined;
  }

  function notice(): void {
    const faulty = fault() !== undefined;
    if (faulty !== wasFaulty) {
      wasFaulty = faulty;
      onChange();
    }
  }

  function stored(): void {
    lastStored = now();
    failingSince = undefined;
    notice();
  }

  return {
    stored,
    failed(handedInAt) {
      failingSince ??= Math.max(handedInAt, lastStored);
      notice();
    },
    fault,
    async check(probe) {
      if (failingSince === undefined) {
        return undefined;
      }
      try {
        await probe();
      } catch {
        return FAULT;
      }
      stored();
      return undefined;
    },
  };
}
