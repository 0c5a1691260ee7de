import type { TakenJob } from './queue.ts';

/**
 * How long ago a job that was just taken was queued, in seconds, each time it is asked. The database's clock says how
 * long the job has waited, and a monotonic one what has passed since then: the clocks of two machines may be hours
 * apart.
 */
export function secondsSinceQueued(
  { createdOn, startedOn }: Pick<TakenJob<object>, 'createdOn' | 'startedOn'>,
  now: () => number = () => performance.now(),
): () => number {
  const taken = now();
  // A clock that was set back in between must not make it negative.
  const waitedMs = Math.max(0, startedOn.getTime() - createdOn.getTime());
  return () => (waitedMs + now() - taken) / 1_000;
}
