import type { Forge } from './port/forge.ts';
import { yesNo } from './port/yes-no.ts';
import type { ForgeClock } from './transport/clock.ts';

/**
 * Forges tell the time of a change in whole seconds, and a proxy before them may have put its own time into the answer.
 */
const STEP_MS = 2_000;

/**
 * Says of each pull request that is read whether any later change will show in its `updatedAt`: one in the second of
 * the last change does not.
 */
export function withSettled(forge: Forge, clock: ForgeClock): Forge {
  return {
    ...forge,
    async pullRequestWithFacts(ref, paths) {
      const began = performance.now();
      const read = await forge.pullRequestWithFacts(ref, paths);
      const at = clock.earliestAt(began);
      const settled = read !== undefined && at !== undefined && at - Date.parse(read.pullRequest.updatedAt) >= STEP_MS;
      return read && { ...read, settled: yesNo(settled) };
    },
  };
}
