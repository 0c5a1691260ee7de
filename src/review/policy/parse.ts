import { LineCounter } from 'yaml';
import { allNeeds } from '../../facts/needs.ts';
import type { Needs } from '../../facts/table.ts';
import { predicates } from '../predicates/index.ts';
import { splitTeams } from '../predicates/values.ts';
import { type Fault, faultCollector } from './faults.ts';
import type { Condition, Policy, PolicyOrigin, Rule } from './policy.ts';
import { readRules } from './rules.ts';
import { policySchema } from './schema.ts';
import { schemaFaults } from './schema-faults.ts';
import { readYaml } from './yaml.ts';

export type ParsedPolicy =
  | { readonly ok: true; readonly policy: Policy }
  | { readonly ok: false; readonly faults: readonly Fault[] };

/**
 * `extended` is a file that another one extends; such a file may not extend a third. `baseline` is that of the
 * organisation's policy repository, which comes before all others and alone may lock rules.
 */
export type PolicyRole = 'own' | 'extended' | 'baseline';

/** Reads policies off the event loop, within limits of time and memory. */
export interface PolicyWorkers {
  /** `repository` is the one under review. A policy that hits a limit is one with a fault. */
  parsePolicy(repository: string, text: string, origin: PolicyOrigin, role?: PolicyRole): Promise<ParsedPolicy>;
}

/**
 * Reads a policy file: the policy, or everything that is wrong with it. Never throws, whatever the text.
 * What it takes is bounded by the worker that runs it: call PolicyWorkers.parsePolicy for text of unknown origin.
 */
export function parsePolicy(text: string, origin: PolicyOrigin, role: PolicyRole = 'own'): ParsedPolicy {
  const lines = new LineCounter();
  const faults = faultCollector(origin.path, lines);
  const yaml = readYaml(text, lines, faults);
  if (yaml === undefined) {
    return { ok: false, faults: faults.all() };
  }

  const shape = policySchema.safeParse(yaml.value, { reportInput: true });
  if (!shape.success) {
    schemaFaults(policySchema, shape.error.issues, yaml, faults);
  }
  const rules = readRules(yaml, shape.data, origin, faults);
  const { extends: extended, comments, override, author_trailers, machine_accounts } = shape.success ? shape.data : {};
  if (role !== 'own' && extended !== undefined) {
    faults.add(yaml.positionOf(['extends']), {
      message:
        role === 'extended'
          ? 'an extended policy cannot extend another one: only one level is supported'
          : 'the organisation’s baseline cannot extend another policy',
      expected: 'no extends',
      found: extended,
    });
  }
  for (const [index, { locked }] of rules.entries()) {
    if (locked && role !== 'baseline') {
      faults.add(yaml.keyPositionOf(['rules', index], 'locked'), {
        message: '"locked" has an effect only in the organisation’s policy repository (POLICY_REPOSITORY)',
        expected: 'no locked',
        found: 'true',
      });
    }
  }
  const found = faults.all();
  if (found.length > 0) {
    return { ok: false, faults: found };
  }
  return {
    ok: true,
    policy: {
      origin,
      ...(extended === undefined ? {} : { extends: parseExtends(extended) }),
      ...(comments === undefined ? {} : { comments }),
      ...(override === undefined ? {} : { override: { names: override.by, ...splitTeams(override.by) } }),
      authorTrailers: author_trailers ?? [],
      machineAccounts: machine_accounts ?? [],
      rules: rules.map((rule) => ({ ...rule, needs: ruleNeeds(rule) })),
    },
  };
}

function parseExtends(text: string): { readonly repository: string; readonly ref: string } {
  const at = text.indexOf('@');
  return { repository: text.slice(0, at), ref: text.slice(at + 1) };
}

/** Found out when the policy is parsed, since a predicate reads its value for it. */
function ruleNeeds({ when, require, forbid }: Pick<Rule, 'when' | 'require' | 'forbid'>): Needs {
  return allNeeds(
    [when, require, forbid].flatMap((condition) => (condition === undefined ? [] : conditionNeeds(condition))),
  );
}

function conditionNeeds(condition: Condition): readonly Needs[] {
  switch (condition.kind) {
    case 'not':
      return conditionNeeds(condition.part);
    case 'all':
    case 'any':
      return condition.parts.flatMap(conditionNeeds);
    case 'predicate':
      return [predicates.get(condition.name)?.needs(condition.value) ?? {}];
  }
}
