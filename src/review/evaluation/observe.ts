import { withTimeout } from '../../common/timeout.ts';
import { gatherFacts, type Sources } from '../../facts/gather.ts';
import { needsBeside, needsReading } from '../../facts/needs.ts';
import type { Facts } from '../../facts/table.ts';
import { ForgeError } from '../../forges/port/forge-error.ts';
import { neededFacts } from '../policy/needs.ts';
import type { Policy } from '../policy/policy.ts';

/** Milliseconds that a review waits for what only observed rules ask of the forge. */
const MAX_READING_MS = 10_000;

/** The policy without its observed rules: all that a verdict depends on. */
export function rulesInForce(policy: Policy): Policy {
  return { ...policy, rules: policy.rules.filter(({ level }) => level !== 'observe') };
}

/**
 * Adds what only the observed rules of a policy need to what those in force have read. Never fails: what the forge does
 * not tell at once stays unread, and leaves an observed rule undecided.
 */
export async function readToObserve(
  policy: Policy,
  inForce: Facts,
  sources: Sources,
  maxReadingMs = MAX_READING_MS,
): Promise<Facts> {
  const missing = needsBeside(neededFacts(rulesInForce(policy)), neededFacts(policy));
  if (!needsReading(missing)) {
    return inForce;
  }
  try {
    return await withTimeout(maxReadingMs, gatherFacts(sources, missing, inForce), () => inForce);
  } catch (error) {
    if (error instanceof ForgeError) {
      return inForce;
    }
    throw error;
  }
}
