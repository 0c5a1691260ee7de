/**
 * Group commit: items that arrive while a commit is in flight are written together by the next one.
 * There is no timer, so an item that arrives when nothing is in flight is written at once.
 */
export interface GroupCommit<Item, Result> {
  /**
   * Resolves with the item's own result once its commit is over; rejects if it fails. `signal` withdraws a waiting
   * item.
   */
  add(item: Item, signal: AbortSignal): Promise<Result>;
  /** Resolves when nothing waits and nothing is in flight. */
  idle(): Promise<void>;
}

export interface GroupCommitLimits<Item> {
  readonly maxItems: number;
  /** A batch closes when it has at least this much weight. */
  readonly maxWeight: number;
  readonly weigh: (item: Item) => number;
}

interface Entry<Item, Result> {
  readonly item: Item;
  readonly signal: AbortSignal;
  readonly settle: PromiseWithResolvers<Result>;
}

/** `commit` gives one result per item, in the items' order. */
export function makeGroupCommit<Item, Result>(
  limits: GroupCommitLimits<Item>,
  commit: (items: readonly Item[]) => Promise<readonly PromiseSettledResult<Result>[]>,
): GroupCommit<Item, Result> {
  const waiting: Entry<Item, Result>[] = [];
  let busy = false;
  let running = Promise.resolve();

  function withdraw(entry: Entry<Item, Result>): void {
    const index = waiting.indexOf(entry);
    if (index < 0) {
      return;
    }
    waiting.splice(index, 1);
    entry.settle.reject(entry.signal.reason);
  }

  function nextBatch(): Entry<Item, Result>[] {
    const batch: Entry<Item, Result>[] = [];
    let weight = 0;
    while (batch.length < limits.maxItems && weight < limits.maxWeight) {
      const entry = waiting.shift();
      if (entry === undefined) {
        break;
      }
      if (entry.signal.aborted) {
        entry.settle.reject(entry.signal.reason);
        continue;
      }
      batch.push(entry);
      weight += limits.weigh(entry.item);
    }
    return batch;
  }

  async function run(): Promise<void> {
    for (let batch = nextBatch(); batch.length > 0; batch = nextBatch()) {
      try {
        const results = await commit(batch.map(({ item }) => item));
        for (const [index, entry] of batch.entries()) {
          settle(entry, results[index]);
        }
      } catch (error) {
        for (const entry of batch) {
          entry.settle.reject(error);
        }
      }
    }
    busy = false;
  }

  return {
    add(item, signal) {
      const entry = { item, signal, settle: Promise.withResolvers<Result>() };
      waiting.push(entry);
      // At once, and not when its turn comes: what it holds in memory is no longer counted.
      signal.addEventListener('abort', () => withdraw(entry), { once: true });
      if (!busy) {
        busy = true;
        running = run();
      }
      return entry.settle.promise;
    },
    async idle() {
      while (busy) {
        await running;
      }
    },
  };
}

function settle<Item, Result>(entry: Entry<Item, Result>, result: PromiseSettledResult<Result> | undefined): void {
  if (result?.status === 'fulfilled') {
    entry.settle.resolve(result.value);
  } else {
    entry.settle.reject(result?.reason ?? new Error('the batch gave no result for this item'));
  }
}
