import { authorsOf } from '../../facts/authors/authors.ts';
import { type Named, namesPeople } from '../../facts/authors/names.ts';
import { NO_PEOPLE_SETTINGS } from '../../facts/authors/people-settings.ts';
import { trailersOf } from '../../facts/authors/trailers.ts';
import type { Facts } from '../../facts/table.ts';
import { factsOf } from '../../facts/table.ts';
import type { EvaluatedCondition, EvaluatedRule } from '../evaluation/evaluation.ts';
import type { Condition, Policy, PolicyOrigin, Rule } from '../policy/policy.ts';
import type { Outcome } from '../predicates/predicate.ts';
import type { CaseResult } from './run.ts';

/** A part of a policy that no case shows to work. */
export interface Uncovered extends PolicyOrigin {
  /** Absent for what is of no rule. */
  readonly line?: number;
  readonly rule?: string;
  /** `require: files`; absent when it is the whole rule. Without a rule `machine_accounts: coder`. */
  readonly part?: string;
  readonly missing:
    | 'any case'
    | 'a case that reaches it'
    | 'a case where it matches'
    | 'a case where it does not match'
    | 'a case with this account'
    | 'a case with this trailer';
}

const SECTIONS = ['when', 'require', 'forbid'] as const;

/**
 * What the cases leave open: rules that none expects anything of, predicates that never match, or always do, and
 * machine accounts and trailers of authors that are in none.
 */
export function uncovered(policy: Policy, results: readonly CaseResult[]): readonly Uncovered[] {
  const seen = new Map<string, EvaluatedRule[]>();
  for (const { rules } of results) {
    for (const { expected, found } of rules) {
      const others = seen.get(expected.rule);
      if (others === undefined) {
        seen.set(expected.rule, [found]);
      } else {
        others.push(found);
      }
    }
  }
  return [...policy.rules.flatMap((rule) => ofRule(rule, seen.get(rule.id) ?? [])), ...ofPeople(policy, results)];
}

function ofPeople(policy: Policy, results: readonly CaseResult[]): readonly Uncovered[] {
  const { origin, machineAccounts, authorTrailers } = policy;
  if (machineAccounts.length + authorTrailers.length === 0) {
    return [];
  }
  const facts = results.filter(({ rules }) => rules.length > 0).map((result) => factsOf(result.case.given));
  const trailers = new Set(
    facts.flatMap(({ commits }) => commits.commits.flatMap(({ message }) => trailersOf(message).trailers.map(keyOf))),
  );
  const people = facts.flatMap((one) => peopleIn(one, authorTrailers));
  return [
    ...machineAccounts
      .filter((name) => !people.some(namesPeople([name])))
      .map((name) => ({ ...origin, part: `machine_accounts: ${name}`, missing: 'a case with this account' }) as const),
    ...authorTrailers
      .filter((key) => !trailers.has(key.toLowerCase()))
      .map((key) => ({ ...origin, part: `author_trailers: ${key}`, missing: 'a case with this trailer' }) as const),
  ];
}

/** People whose commits, reviews or comments count by whether they are machines. */
function peopleIn({ commits, reviews, conversations }: Facts, authorTrailers: readonly string[]): readonly Named[] {
  const account = (login: string) => ({ as: 'author', login, named: login }) as const;
  return [
    ...authorsOf(commits, { ...NO_PEOPLE_SETTINGS, authorTrailers }).people,
    ...reviews.reviews.map(({ author }) => account(author)),
    ...conversations.conversations.map(({ author }) => account(author)),
  ];
}

function keyOf({ key }: { readonly key: string }): string {
  return key.toLowerCase();
}

function ofRule(rule: Rule, seen: readonly EvaluatedRule[]): readonly Uncovered[] {
  const { source, id } = rule;
  if (seen.length === 0) {
    return [{ ...source, rule: id, missing: 'any case' }];
  }
  return SECTIONS.flatMap((section) => {
    const condition = rule[section];
    const evaluated = seen.flatMap((found) => found[section] ?? []);
    return condition === undefined
      ? []
      : ofCondition(condition, evaluated).map(({ line, name, missing }) => ({
          ...source,
          line,
          rule: id,
          part: `${section}: ${name}`,
          missing,
        }));
  });
}

interface UncoveredPredicate {
  readonly line: number;
  readonly name: string;
  readonly missing: Uncovered['missing'];
}

/** `evaluated` are the results of this very condition. */
function ofCondition(condition: Condition, evaluated: readonly EvaluatedCondition[]): readonly UncoveredPredicate[] {
  switch (condition.kind) {
    case 'all':
    case 'any':
      return condition.parts.flatMap((part, index) =>
        ofCondition(
          part,
          evaluated.flatMap((one) => ('parts' in one ? (one.parts[index] ?? []) : [])),
        ),
      );
    case 'not':
      return ofCondition(
        condition.part,
        evaluated.flatMap((one) => ('part' in one ? one.part : [])),
      );
    case 'predicate': {
      const { line, name } = condition;
      const outcomes = new Set<Outcome>(evaluated.map(({ outcome }) => outcome));
      if (outcomes.size === 0) {
        return [{ line, name, missing: 'a case that reaches it' }];
      }
      return [
        ...(outcomes.has('matched') ? [] : [{ line, name, missing: 'a case where it matches' } as const]),
        ...(outcomes.has('unmatched') ? [] : [{ line, name, missing: 'a case where it does not match' } as const]),
      ];
    }
  }
}
