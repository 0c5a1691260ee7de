/** Collects the parameters of a statement whose text is put together from parts. */
export interface Parameters {
  readonly values: unknown[];
  /** Adds a value, and returns its place in the text: `$1`, `$2` and so on. */
  add(value: unknown): string;
}

export function makeParameters(): Parameters {
  const values: unknown[] = [];
  return { values, add: (value) => `$${values.push(value)}` };
}
