/** How much of a kind runs at a time. AVA starts all tests of a file at once, more than a loaded machine serves in time. */
export function makeSlots(count: number) {
  const waiting: (() => void)[] = [];
  let free = count;
  return {
    /** Waits for a free slot. Returns what frees it again; a second call of that has no effect. */
    async take(): Promise<() => void> {
      if (free > 0) {
        free -= 1;
      } else {
        await new Promise<void>((resolve) => waiting.push(resolve));
      }
      let taken = true;
      return () => {
        if (!taken) {
          return;
        }
        taken = false;
        const next = waiting.shift();
        if (next === undefined) {
          free += 1;
        } else {
          next();
        }
      };
    },
  };
}
