/** Thrown by {@link Effort.spend}, and caught where a predicate is judged: that predicate is then undecided. */
export class EffortSpent extends Error {
  override readonly name = 'EffortSpent';
}

/** A count of work instead of a clock, so that the same policy and change always give the same answer. */
export interface Effort {
  /** Throws {@link EffortSpent} when not as many steps are left. */
  reserve(steps: number): void;
  /** Takes so many steps off what is left; throws {@link EffortSpent} when there are not as many. */
  spend(steps: number): void;
  spent(): number;
}

export function makeEffort(limit: number): Effort {
  let spent = 0;
  const reserve = (steps: number): void => {
    if (spent + steps <= limit) {
      return;
    }
    spent = limit;
    throw new EffortSpent();
  };
  return {
    reserve,
    spend(steps) {
      reserve(steps);
      spent += steps;
    },
    spent: () => spent,
  };
}
