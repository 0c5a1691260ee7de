import type { PullRequestRef } from '../../forges/port/pull-request.ts';

/**
 * A review's right to write. Each review that begins takes the next number, and only the one with the row's number may
 * write: one that hung, or that the job engine gave to another worker meanwhile, finds a higher number there.
 */
export interface Claim extends PullRequestRef {
  readonly fence: string;
}

/** A newer review of the same pull request has begun, which will say what this one would have said, and more. */
export class LostClaimError extends Error {
  override readonly name = 'LostClaimError';
  constructor({ repository, number }: PullRequestRef) {
    super(`a newer review of ${repository}#${number} has begun`);
  }
}
