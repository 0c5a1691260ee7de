import type { Overriders, Policy, Rule } from '../policy/policy.ts';
import type { Text } from '../text.ts';

/** A rule that somebody overrides at the head: it is not met, and does not block. */
export interface Override {
  readonly ruleId: string;
  /** Login of whoever did. */
  readonly by: string;
  readonly reason: string;
  /** The comment with the command, by the forge's id. */
  readonly commentId: string;
  readonly at: string;
}

/** A command to override that does not count. */
export interface RefusedOverride {
  /** As typed. */
  readonly ruleId: string;
  /** Login; null when the account is gone. */
  readonly author: string | null;
  readonly commentId: string;
  /** Why it does not count, as a sentence without its subject: "was edited". */
  readonly why: Text;
}

/** What people override of a pull request. Only of a policy that has `override`. */
export interface Overrides {
  readonly headSha: string;
  /** False when the comments cannot be read, or are more than are read: then none counts. */
  readonly complete: boolean;
  readonly inForce: readonly Override[];
  readonly refused: readonly RefusedOverride[];
  /** Rules that block and are not overridden, with the names of those who may. */
  readonly possible: readonly { readonly ruleId: string; readonly by: readonly string[] }[];
}

/** Whether there is a rule that somebody may override. */
export function canBeOverridden(policy: Policy): boolean {
  return policy.rules.some((rule) => overridersOf(policy, rule) !== undefined);
}

/** Who may override a rule; undefined for nobody. */
export function overridersOf(policy: Policy, { id }: Pick<Rule, 'id'>): Overriders | undefined {
  const rule = policy.rules.find((one) => one.id === id);
  if (rule?.locked) {
    return policy.baselineOverride;
  }
  return policy.override ?? (rule?.fromBaseline ? policy.baselineOverride : undefined);
}
