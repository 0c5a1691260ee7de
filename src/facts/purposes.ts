import type { ForgeName } from '../forges/port/forges.ts';
import type { Permission, Subscription } from './fact.ts';
import { FACT_NAMES, FACTS, type FactName, type Needs } from './table.ts';

/** What needs a permission or an event beside every review. */
export type Purpose = FactName | 'commands' | 'merge-queue' | 'new-repositories';

export function purposesOf(needs: Needs): readonly Purpose[] {
  return FACT_NAMES.filter((name) => needs[name] !== undefined);
}

export interface FactPermission extends Permission {
  readonly for: Purpose;
}

export function permissionsOf(forge: ForgeName): readonly FactPermission[] {
  return FACT_NAMES.flatMap((name) =>
    FACTS[name].forges[forge].permissions.map((permission) => ({ ...permission, for: name })),
  );
}

export interface FactSubscription extends Subscription {
  readonly for: Purpose;
}

/** The events that have to be subscribed to for facts. */
export function subscriptionsOf(forge: ForgeName): readonly FactSubscription[] {
  return FACT_NAMES.flatMap((name) =>
    FACTS[name].forges[forge].webhooks.flatMap(({ subscription }) =>
      subscription === undefined ? [] : [{ ...subscription, for: name }],
    ),
  );
}
