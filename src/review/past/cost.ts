import { FACT_NAMES, FACTS, type FactName, type Needs } from '../../facts/table.ts';
import type { ForgeName } from '../../forges/port/forges.ts';

/** Beyond these, what is still unread of a pull request is left unread. */
export const MAX_REQUESTS_EACH = 50;
/** For the list of merged pull requests, and for the policy. */
export const MAX_OTHER_REQUESTS = 60;
/** For the commit that was merged. GitHub lists it with the pull request. */
const HEAD_REQUESTS: Readonly<Record<ForgeName, number>> = { github: 0, gitea: 1, forgejo: 1 };

export interface Cost {
  /** Never more. */
  readonly most: number;
  /** For each pull request, where none is large. */
  readonly usualEach: number;
}

/** Requests to the forge to judge so many merged pull requests. */
export function costOf(forge: ForgeName, needs: Needs, count: number): Cost {
  const needed = FACT_NAMES.filter((name) => needs[name] !== undefined && FACTS[name].past.read !== 'unread');
  const sum = needed.reduce((total, name) => total + requestsFor(forge, name, needs), 0);
  const usualEach = sum + (needed.some((name) => FACTS[name].past.atHead) ? HEAD_REQUESTS[forge] : 0);
  return { most: MAX_OTHER_REQUESTS + (usualEach === 0 ? 0 : count * MAX_REQUESTS_EACH), usualEach };
}

function requestsFor(forge: ForgeName, name: FactName, needs: Needs): number {
  const { requests } = FACTS[name].forges[forge];
  const ofParts: Readonly<Record<string, number | undefined>> = requests;
  const parts: readonly string[] = needs[name] ?? [];
  return parts.reduce((total, part) => total + (ofParts[part] ?? 0), requests.always);
}
