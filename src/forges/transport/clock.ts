/** What is known of the forge's clock, from the `Date` of its answers. It may differ from ours by any amount. */
export interface ForgeClock {
  /** `receivedAt`: when the answer was here, by `performance.now()`. */
  note(date: string | undefined, receivedAt: number): void;
  /**
   * What the forge's clock showed at least at a time of `performance.now()`, in milliseconds since 1970; undefined: not
   * known.
   */
  earliestAt(time: number): number | undefined;
}

/**
 * So many that a slow answer, which says little, is outweighed by others; so few that a clock that was set back is
 * noticed.
 */
const MAX_NOTED = 32;

export function makeForgeClock(): ForgeClock {
  /** By how much the forge's clock is ahead of `performance.now()` at least. */
  const leads: number[] = [];
  return {
    note(date, receivedAt) {
      const time = Date.parse(date ?? '');
      if (!Number.isNaN(time)) {
        leads.push(time - receivedAt);
        leads.splice(0, leads.length - MAX_NOTED);
      }
    },
    earliestAt: (time) => (leads.length === 0 ? undefined : time + Math.max(...leads)),
  };
}
