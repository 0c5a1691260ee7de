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
  const observed = { ...policy, rules: policy.rules.filter(({ level }) => level === 'observe') };
  const missing = needsBeside(neededFacts(rulesInForce(policy)), neededFacts(observed));
  const { pullRequest, changedFiles } = inForce;
  const lacksLines =
    missing.changedFiles?.includes('lines') === true && changedFiles.files.some(({ diff }) => diff.kind === 'unread');
  const [facts, files] = await Promise.all([
    needsReading(missing) ? unlessUnread(gatherFacts(sources, missing, inForce), inForce, maxReadingMs) : inForce,
    lacksLines
      ? unlessUnread(sources.forge.changedFiles(pullRequest, pullRequest.head.sha), changedFiles, maxReadingMs)
      : changedFiles,
  ]);
  return { ...facts, changedFiles: files };
}

/** What was known before, where the forge does not tell more in time. */
async function unlessUnread<T>(reading: Promise<T>, before: T, limitMs: number): Promise<T> {
  try {
    return await withTimeout(limitMs, reading, () => before);
  } catch (error) {
    if (error instanceof ForgeError) {
      return before;
    }
    throw error;
  }
}
