/**
 * Settles as `work` does, or with what `onTimeout` returns after so many milliseconds. The work itself goes on: give it
 * an AbortSignal where it can be stopped. An answer that has arrived by then counts, even if this process was too busy
 * to read it.
 */
export async function withTimeout<T>(
  timeoutMs: number,
  work: Promise<T>,
  onTimeout: () => T | PromiseLike<T>,
): Promise<T> {
  const late = Promise.withResolvers<T>();
  let reading: NodeJS.Immediate | undefined;
  const timer = setTimeout(() => {
    // Timers come before sockets in a turn of the event loop, immediates after them.
    reading = setImmediate(() => late.resolve(onTimeout()));
  }, timeoutMs);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
    clearImmediate(reading);
  }
}
