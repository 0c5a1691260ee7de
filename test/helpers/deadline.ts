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
