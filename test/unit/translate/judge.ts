import { factsOf } from '../../../src/facts/table.ts';
import type { Given } from '../../../src/review/cases/given.ts';
import { evaluate } from '../../../src/review/evaluation/evaluate.ts';
import { parsePolicy } from '../../../src/review/policy/parse.ts';
import type { Policy } from '../../../src/review/policy/policy.ts';
import type { Finding } from '../../../translate/findings.ts';
import { type Kind, translateText } from '../../../translate/translate-text.ts';

export interface Translated {
  readonly text: string;
  readonly policy: Policy;
  readonly findings: readonly Finding[];
  /** Lines without an equal. */
  readonly lost: readonly number[];
}

/** Translates a file of another program. Throws if it has faults, or becomes a policy that Gatehouse does not accept. */
export function translated(kind: Kind, source: string): Translated {
  const result = translateText(kind, source, 'source.yml');
  if (!result.ok) {
    throw new Error(result.faults.map(({ line, message }) => `${line}: ${message}`).join('\n'));
  }
  const parsed = parsePolicy(result.policy, { path: '.gatehouse.yml' });
  if (!parsed.ok) {
    throw new Error(`${result.policy}\n${parsed.faults.map(({ line, message }) => `${line}: ${message}`).join('\n')}`);
  }
  const lost = result.findings.flatMap(({ line, kind: what }) => (what === 'lost' ? [line] : []));
  return { text: result.policy, policy: parsed.policy, findings: result.findings, lost: [...new Set(lost)] };
}

/** Whether nothing of the policy stops such a pull request. */
export function passes(policy: Policy, given: Given): boolean {
  return evaluate(policy, factsOf(given)).rules.every(
    ({ rule, outcome }) => rule.level !== 'error' || outcome === 'passed' || outcome === 'inactive',
  );
}

/** A construct of another program, and pull requests that it lets pass and stops. */
export interface Construct {
  readonly name: string;
  /** The document that defines it, in the repository of the program. */
  readonly document: string;
  readonly source: string;
  readonly passes: readonly Given[];
  readonly stops: readonly Given[];
  /** Lines of the source that have no equal. None if absent. */
  readonly lost?: readonly number[];
}
