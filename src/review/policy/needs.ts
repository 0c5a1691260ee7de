import { allNeeds, needsReading } from '../../facts/needs.ts';
import type { Needs } from '../../facts/table.ts';
import type { Policy } from './policy.ts';

/** What must be read from the forge before this policy can be evaluated: a policy about titles needs nothing more. */
export function neededFacts({ rules }: Pick<Policy, 'rules'>): Needs {
  return allNeeds(rules.map(({ needs }) => needs));
}

/** Beside the pull request itself. */
export function needsOnlyFiles(policy: Policy): boolean {
  return !needsReading(neededFacts(policy));
}
