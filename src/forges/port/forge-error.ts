/** A forge that could not answer, with what its caller needs to decide what to do next. */
export class ForgeError extends Error {
  override readonly name = 'ForgeError';
  /**
   * - `unavailable`: no usable answer (network, time-out, 5xx, invalid content); trying again may help.
   * - `rate-limited`: a rate limit; `retryAt` says until when.
   * - `refused`: our credentials may not do this; trying again will not help.
   * - `invalid`: the forge rejected the request (422 and the like).
   * - `too-large`: a file, an answer or a list that is larger than Gatehouse reads.
   * - `not-a-file`: a directory, a symbolic link or a submodule where a file was asked for; the message says which.
   */
  readonly kind: 'unavailable' | 'rate-limited' | 'refused' | 'invalid' | 'too-large' | 'not-a-file';
  /** HTTP status, when there was an answer. */
  readonly status: number | undefined;
  /** Milliseconds since the epoch. */
  readonly retryAt: number | undefined;

  constructor(
    kind: ForgeError['kind'],
    message: string,
    options: { cause?: unknown; status?: number; retryAt?: number } = {},
  ) {
    super(message, { cause: options.cause });
    this.kind = kind;
    this.status = options.status;
    this.retryAt = options.retryAt;
  }
}

/** What is at a commit was asked for, and the forge finds no such commit: it may find it soon, or on another server. */
export class UnknownCommitError extends ForgeError {
  constructor(route: string) {
    super('unavailable', `${route}: the forge does not find the commit`, { status: 404 });
  }
}
