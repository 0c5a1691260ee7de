import { FACT_NAMES, FACTS, type FactName, type Needs } from '../../facts/table.ts';
import type { ForgeName } from '../../forges/port/forges.ts';

/** What of a rule's conditions is judged as it is today; empty when all of it is as it was. */
export function asOfToday(needs: Needs, forge: ForgeName): readonly string[] {
  return [...(needs.pullRequest ?? []), ...FACT_NAMES.flatMap((name) => ofFact(name, needs, forge))];
}

function ofFact<Name extends FactName>(name: Name, needs: Needs, forge: ForgeName): readonly string[] {
  const parts = needs[name];
  return parts === undefined ? [] : FACTS[name].past.asOfToday(parts, forge);
}
