/** A mistake that a colleague could make in `src`, and the tests that should notice it. */
export interface Fault {
  /** A short name, with the room before the first hyphen. */
  readonly id: string;
  /** What goes wrong, in one line. */
  readonly title: string;
  /** The file under `src`. */
  readonly file: string;
  /** Occurs once in the file. */
  readonly find: string;
  /** What stands there instead. */
  readonly replace: string;
  /** The cheapest files that should notice it, from the root. */
  readonly tests: readonly [string, ...string[]];
}

/** The text with the fault in it. Throws unless its place occurs exactly once: which one is meant must be certain. */
export function plant({ id, file, find, replace }: Fault, text: string): string {
  const [before = '', after, ...more] = text.split(find);
  if (after === undefined || more.length > 0) {
    const times = after === undefined ? 'is not' : `is ${more.length + 1} times`;
    throw new Error(`${id}: its place ${times} in ${file}`);
  }
  return `${before}${replace}${after}`;
}
