import { LineCounter } from 'yaml';
import { splitTeams } from '../predicates/values.ts';
import { type Fault, faultCollector } from './faults.ts';
import { ruleNeeds } from './needs.ts';
import { readRules } from './rules.ts';
import { type Policy, type PolicyOrigin, policySchema } from './schema.ts';
import { schemaFaults } from './schema-faults.ts';
import { readYaml } from './yaml.ts';

export type ParsedPolicy =
  | { readonly ok: true; readonly policy: Policy }
  | { readonly ok: false; readonly faults: readonly Fault[] };

/** `extended` is a file that another one extends; such a file may not extend a third. */
export type PolicyRole = 'own' | 'extended';

/**
 * Reads a policy file: the policy, or everything that is wrong with it. Never throws, whatever the text.
 * What it takes is bounded by the thread that runs it: call ReviewThreads.parsePolicy for text of unknown origin.
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
    schemaFaults(shape.error.issues, yaml, faults);
  }
  const rules = readRules(yaml, origin, faults);
  const { extends: extended, comments, override } = shape.success ? shape.data : {};
  if (role === 'extended' && extended !== undefined) {
    faults.add(yaml.positionOf(['extends']), {
      message: 'an extended policy cannot extend another one: only one level is supported',
      expected: 'no extends',
      found: extended,
    });
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
      rules: rules.map((rule) => ({ ...rule, needs: ruleNeeds(rule) })),
    },
  };
}

function parseExtends(text: string): { readonly repository: string; readonly ref: string } {
  const at = text.indexOf('@');
  return { repository: text.slice(0, at), ref: text.slice(at + 1) };
}

/**
 * The policy that a file and the one it extends make together: the base's rules in their order, each replaced by
 * the extending file's rule of the same id if there is one, and then the extending file's other rules. `comments` and
 * `override` are the extending file's, or else the base's.
 */
export function mergePolicies(base: Policy, extending: Policy): Policy {
  const own = new Map(extending.rules.map((rule) => [rule.id, rule]));
  const inherited = base.rules.map((rule) => own.get(rule.id) ?? rule);
  const ids = new Set(base.rules.map((rule) => rule.id));
  const comments = extending.comments ?? base.comments;
  const override = extending.override ?? base.override;
  return {
    origin: extending.origin,
    ...(comments === undefined ? {} : { comments }),
    ...(override === undefined ? {} : { override }),
    rules: [...inherited, ...extending.rules.filter((rule) => !ids.has(rule.id))],
  };
}
