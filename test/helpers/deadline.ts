/** Longer than anything that a test waits for takes on any machine. AVA gives a whole test three times as long. */
export const LONG_MS = 60_000;

/** The same as `within`, with a minute and a failure that says what was waited for, as in "the stores are closed". */
export function inTime<T>(what: string, promise: Promise<T>): Promise<T> {
  return within(LONG_MS, `waited ${LONG_MS} ms in vain until ${what}`, promise);
}

/** The promise's outcome, or an error with this message when it takes longer. What was begun is not undone. */
export async function within<T>(milliseconds: number, message: string, promise: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(message)), milliseconds);
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
