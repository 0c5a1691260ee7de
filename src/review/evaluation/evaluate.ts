import type { Facts, NeededFacts } from '../facts.ts';
import { MAX_CODE_OWNER_TEAMS, MAX_STEPS } from '../limits.ts';
import { makeStepBudget, type StepBudget, StepBudgetExceeded } from '../matching/budget.ts';
import type { Condition, Policy, Rule } from '../policy/schema.ts';
import { ownerTeams } from '../predicates/code-owners.ts';
import { predicates } from '../predicates/index.ts';
import type { Location, Outcome } from '../predicates/predicate.ts';
import { say, type Text } from '../text.ts';

/** What came of a condition, and of every part of it. */
export type EvaluatedCondition =
  | {
      readonly kind: 'all' | 'any';
      readonly line: number;
      readonly outcome: Outcome;
      readonly parts: readonly EvaluatedCondition[];
    }
  | { readonly kind: 'not'; readonly line: number; readonly outcome: Outcome; readonly part: EvaluatedCondition }
  | {
      readonly kind: 'predicate';
      readonly line: number;
      readonly name: string;
      readonly outcome: Outcome;
      readonly expected: Text;
      readonly found: Text;
      readonly locations: readonly Location[];
      readonly remedy: { readonly toMatch: Text; readonly toAvoid: Text };
    };

/**
 * - `inactive`: its `when` does not match, so it asks for nothing here.
 * - `undecided`: what was read of the pull request does not settle it.
 */
export type RuleOutcome = 'passed' | 'failed' | 'undecided' | 'inactive';

export interface EvaluatedRule {
  readonly rule: Pick<Rule, 'id' | 'level' | 'message' | 'source'>;
  readonly outcome: RuleOutcome;
  readonly when?: EvaluatedCondition;
  /** Absent when the rule has none, or is inactive. */
  readonly require?: EvaluatedCondition;
  readonly forbid?: EvaluatedCondition;
}

export interface Evaluation {
  readonly rules: readonly EvaluatedRule[];
  /** Steps of work it took; see MAX_STEPS. */
  readonly steps: number;
}

/**
 * Judges a pull request by a policy. Pure and total: the same policy and facts always give the same answer, and
 * what cannot be judged is `undecided`, never an exception.
 */
export function evaluate(policy: Policy, facts: Facts, maxSteps = MAX_STEPS): Evaluation {
  const budget = makeStepBudget(maxSteps);
  const rules = policy.rules.map((rule) => evaluateRule(rule, facts, budget));
  return { rules, steps: budget.spent() };
}

function evaluateRule(rule: Rule, facts: Facts, budget: StepBudget): EvaluatedRule {
  const { id, level, message, source } = rule;
  const about = { id, level, source, ...(message === undefined ? {} : { message }) };
  const when = rule.when === undefined ? undefined : evaluateCondition(rule.when, facts, budget);
  if (when?.outcome === 'unmatched') {
    return { rule: about, outcome: 'inactive', when };
  }

  const require = rule.require === undefined ? undefined : evaluateCondition(rule.require, facts, budget);
  const forbid = rule.forbid === undefined ? undefined : evaluateCondition(rule.forbid, facts, budget);
  const holds = all([require?.outcome ?? 'matched', opposite(forbid?.outcome ?? 'unmatched')]);
  return {
    rule: about,
    outcome: ruleOutcome(when?.outcome ?? 'matched', holds),
    ...(when === undefined ? {} : { when }),
    ...(require === undefined ? {} : { require }),
    ...(forbid === undefined ? {} : { forbid }),
  };
}

function ruleOutcome(active: Outcome, holds: Outcome): RuleOutcome {
  // What it asks for holds: then it does not matter whether it had to be asked.
  if (holds === 'matched') {
    return 'passed';
  }
  return active === 'matched' && holds === 'unmatched' ? 'failed' : 'undecided';
}

function evaluateCondition(condition: Condition, facts: Facts, budget: StepBudget): EvaluatedCondition {
  const { line } = condition;
  switch (condition.kind) {
    case 'all':
    case 'any': {
      // Every part, even when one settles it: `gatehouse explain` and the review show them all.
      const parts = condition.parts.map((part) => evaluateCondition(part, facts, budget));
      const outcomes = parts.map((part) => part.outcome);
      return { kind: condition.kind, line, outcome: condition.kind === 'all' ? all(outcomes) : any(outcomes), parts };
    }
    case 'not': {
      const part = evaluateCondition(condition.part, facts, budget);
      return { kind: 'not', line, outcome: opposite(part.outcome), part };
    }
    case 'predicate':
      return evaluatePredicate(condition, facts, budget);
  }
}

function evaluatePredicate(
  condition: Extract<Condition, { kind: 'predicate' }>,
  facts: Facts,
  budget: StepBudget,
): EvaluatedCondition {
  const { name, line } = condition;
  const same = { kind: 'predicate', name, line } as const;
  const predicate = predicates.get(name);
  if (predicate === undefined) {
    return { ...same, ...notJudged(say`the predicate ${name}`, say`no such predicate`) };
  }
  try {
    const result = predicate.judge(condition.value, condition.options, facts, budget);
    return { ...same, ...result, locations: result.locations ?? [] };
  } catch (error) {
    if (!(error instanceof StepBudgetExceeded)) {
      throw error;
    }
    return {
      ...same,
      ...notJudged(
        say`${name} to be judged`,
        say`more work than one review may take: the change is too large for the patterns of this policy`,
      ),
    };
  }
}

function notJudged(expected: Text, found: Text) {
  const remedy = say`Split the pull request into smaller ones, or make the policy's patterns simpler.`;
  return {
    outcome: 'undecided',
    expected,
    found,
    locations: [],
    remedy: { toMatch: remedy, toAvoid: remedy },
  } as const;
}

// Three-valued logic (Kleene): undecided only where a decision either way would change the answer.

function all(outcomes: readonly Outcome[]): Outcome {
  if (outcomes.includes('unmatched')) {
    return 'unmatched';
  }
  return outcomes.includes('undecided') ? 'undecided' : 'matched';
}

function any(outcomes: readonly Outcome[]): Outcome {
  if (outcomes.includes('matched')) {
    return 'matched';
  }
  return outcomes.includes('undecided') ? 'undecided' : 'unmatched';
}

function opposite(outcome: Outcome): Outcome {
  if (outcome === 'undecided') {
    return 'undecided';
  }
  return outcome === 'matched' ? 'unmatched' : 'matched';
}

/** What the forge must be asked for before this policy can be evaluated: a policy about titles needs nothing more. */
export function neededFacts(policy: Policy): NeededFacts {
  const needed = { changedFiles: false, commits: false, cleanMerges: false, reviews: false, codeOwners: false };
  const teams = new Set<string>();
  const visit = (condition: Condition | undefined): void => {
    if (condition === undefined) {
      return;
    }
    if (condition.kind === 'not') {
      visit(condition.part);
    } else if (condition.kind !== 'predicate') {
      condition.parts.forEach(visit);
    }
    if (condition.kind !== 'predicate') {
      return;
    }
    const needs = predicates.get(condition.name)?.needs(condition.value) ?? {};
    needed.changedFiles ||= needs.changedFiles ?? false;
    needed.commits ||= needs.commits ?? false;
    needed.cleanMerges ||= needs.cleanMerges ?? false;
    needed.reviews ||= needs.reviews ?? false;
    needed.codeOwners ||= needs.codeOwners ?? false;
    for (const team of needs.teams ?? []) {
      teams.add(team);
    }
  };
  for (const rule of policy.rules) {
    visit(rule.when);
    visit(rule.require);
    visit(rule.forbid);
  }
  return { ...needed, teams: [...teams].sort() };
}

/**
 * The teams that CODEOWNERS adds to those of {@link neededFacts}, once the changed files and CODEOWNERS have been
 * read: at most MAX_CODE_OWNER_TEAMS of them. Those left out make their files undecided, not approved.
 * Undefined when to find them takes more than `maxSteps`.
 */
export function neededOwnerTeams(facts: Facts, maxSteps = MAX_STEPS): readonly string[] | undefined {
  try {
    return ownerTeams(facts, makeStepBudget(maxSteps)).slice(0, MAX_CODE_OWNER_TEAMS);
  } catch (error) {
    if (error instanceof StepBudgetExceeded) {
      return undefined;
    }
    throw error;
  }
}
