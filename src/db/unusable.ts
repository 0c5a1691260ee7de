/** The database answers, and nothing can be stored in it. `reason` is fit for the public. */
export class UnusableDatabaseError extends Error {
  override readonly name = 'UnusableDatabaseError';
  readonly reason: string;
  constructor(reason: string) {
    super(`database: ${reason}`);
    this.reason = reason;
  }
}
