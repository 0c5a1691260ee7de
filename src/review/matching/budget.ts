/** Thrown by {@link StepBudget}, and caught where a predicate is judged: that predicate is then undecided. */
export class StepBudgetExceeded extends Error {
  override readonly name = 'StepBudgetExceeded';
}

/** Counts work instead of time, so that the same policy and change always give the same answer. */
export interface StepBudget {
  /** Throws {@link StepBudgetExceeded} when fewer steps are left. Takes none. */
  reserve(steps: number): void;
  /** Takes the steps; throws {@link StepBudgetExceeded} when fewer are left. */
  spend(steps: number): void;
  spent(): number;
}

export function makeStepBudget(maxSteps: number): StepBudget {
  let spent = 0;
  const reserve = (steps: number): void => {
    if (spent + steps <= maxSteps) {
      return;
    }
    spent = maxSteps;
    throw new StepBudgetExceeded();
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
