import { FORGE_NAMES } from '../forges/port/forges.ts';
import type { Webhook } from './fact.ts';
import { pullRequestFact } from './pull-request.ts';
import { FACT_NAMES, FACTS, type FactName, type Needs } from './table.ts';

/** A webhook, and what it tells a change of. */
export interface ToldBy extends Webhook {
  /** Absent: the pull request itself. */
  readonly fact?: FactName;
}

/** Those of all forges together: which forge sent a delivery is not stored with it. */
export const WEBHOOKS: readonly ToldBy[] = FORGE_NAMES.flatMap((forge) => [
  ...pullRequestFact.webhooks[forge],
  ...FACT_NAMES.flatMap((fact) => FACTS[fact].forges[forge].webhooks.map((webhook) => ({ ...webhook, fact }))),
]);

/** Facts whose webhooks start the reviews that ask for them, and no others. */
const ANNOUNCED: ReadonlySet<FactName> = new Set(
  WEBHOOKS.flatMap(({ starts, fact }) => (starts === 'asking' && fact !== undefined ? [fact] : [])),
);

/**
 * Those of what is needed that reviews are found again by. They have to be noted before they are read, so that no
 * webhook of a change is missed.
 */
export function announcedFacts(needs: Needs): readonly FactName[] {
  return FACT_NAMES.filter((name) => needs[name] !== undefined && ANNOUNCED.has(name));
}
