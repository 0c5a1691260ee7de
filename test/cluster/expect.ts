/** Throws when what was seen is not what should be. `what` completes "expected …". */
export function expect(holds: boolean, what: string): asserts holds {
  if (!holds) {
    throw new Error(`expected ${what}`);
  }
}
