/**
 * Settles as `work` does, or with what `onTimeout` returns after so many milliseconds. The work itself goes on: give it
 * an AbortSignal where it can be stopped.
 */
export async function withTimeout<T>(
  timeoutMs: number,
  work: Promise<T>,
  onTimeout: () => T | PromiseLike<T>,
): Promise<T> {
  const late = Promise.withResolvers<T>();
  const timer = setTimeout(() => late.resolve(onTimeout()), timeoutMs);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
