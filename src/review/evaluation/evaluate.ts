import { joinPeople } from '../../facts/authors/people-settings.ts';
import type { Facts } from '../../facts/table.ts';
import { MAX_CODE_OWNER_TEAMS } from '../limits.ts';
import type { Condition, Policy, Rule } from '../policy/policy.ts';
import { ownerTeams } from '../predicates/code-owners.ts';
import { predicates } from '../predicates/index.ts';
import { type Outcome, worstOf } from '../predicates/predicate.ts';
import { say } from '../text.ts';
import type { EvaluatedCondition, EvaluatedRule, Evaluation, RuleOutcome } from './evaluation.ts';
import { described, undecided } from './not-evaluated.ts';
import { obstacleTo, worstObstacle } from './obstacle.ts';

/**
 * Judges a pull request by a policy. Pure and total: the same policy and facts always give the same answer, and
 * what cannot be judged is `undecided`, never an exception. What it takes is bounded by the worker that runs it: call
 * EvaluationWorkers.evaluate. `onRule` is called with the index of each rule before it is evaluated. Rules of level
 * observe come last, and are judged by the facts `observed`.
 *
 * A draft is judged both as it is and as if it were ready for review, and the worse result of each rule counts. So the
 * verdict is the worse of the two: a status stands until the next review has ended, and whoever makes the draft ready
 * must not take a success along.
 */
export function evaluate(
  policy: Policy,
  facts: Facts,
  observed: Facts = facts,
  onRule?: (index: number) => void,
): Evaluation {
  const people = joinPeople(facts.people, policy);
  const isObserved = ({ level }: Rule) => level === 'observe';
  const evaluated = [...policy.rules.entries()]
    .toSorted(([, a], [, b]) => Number(isObserved(a)) - Number(isObserved(b)))
    .map(([index, rule]) => {
      onRule?.(index);
      return [index, evaluateOne(rule, { ...(isObserved(rule) ? observed : facts), people })] as const;
    });
  return { rules: evaluated.toSorted(([a], [b]) => a - b).map(([, rule]) => rule) };
}

function evaluateOne(rule: Rule, facts: Facts): EvaluatedRule {
  return facts.pullRequest.draft !== 'no' && asksForDraft(rule)
    ? evaluateDraft(rule, facts)
    : evaluateRule(rule, facts);
}

/** The worst first. */
const BLOCKING: readonly RuleOutcome[] = ['failed', 'undecided', 'waiting'];

function evaluateDraft(rule: Rule, facts: Facts): EvaluatedRule {
  const asItIs = evaluateRule(rule, facts);
  const asIfReady = evaluateRule(rule, { ...facts, pullRequest: { ...facts.pullRequest, draft: 'no' } });
  const worst = BLOCKING.find((outcome) => [asItIs.outcome, asIfReady.outcome].includes(outcome));
  return worst === undefined || worst === asItIs.outcome ? asItIs : { ...asIfReady, asIfReady: true };
}

/** Whether it can matter to a rule that the pull request is a draft. */
function asksForDraft({ when, require, forbid }: Rule): boolean {
  const asks = (condition: Condition): boolean => {
    switch (condition.kind) {
      case 'all':
      case 'any':
        return condition.parts.some(asks);
      case 'not':
        return asks(condition.part);
      case 'predicate':
        return condition.name === 'draft';
    }
  };
  return [when, require, forbid].some((condition) => condition !== undefined && asks(condition));
}

function evaluateRule(rule: Rule, facts: Facts): EvaluatedRule {
  const about = described(rule);
  const when = rule.when === undefined ? undefined : evaluateCondition(rule.when, facts);
  if (when?.outcome === 'unmatched') {
    return { rule: about, outcome: 'inactive', when };
  }

  const require = rule.require === undefined ? undefined : evaluateCondition(rule.require, facts);
  const forbid = rule.forbid === undefined ? undefined : evaluateCondition(rule.forbid, facts);
  return {
    rule: about,
    outcome: ruleOutcome(when?.outcome ?? 'matched', require, forbid),
    ...(when === undefined ? {} : { when }),
    ...(require === undefined ? {} : { require }),
    ...(forbid === undefined ? {} : { forbid }),
  };
}

function ruleOutcome(
  active: Outcome,
  require: EvaluatedCondition | undefined,
  forbid: EvaluatedCondition | undefined,
): RuleOutcome {
  const obstacle = worstObstacle([
    ...(require === undefined ? [] : [obstacleTo(require, true)]),
    ...(forbid === undefined ? [] : [obstacleTo(forbid, false)]),
  ]);
  // What it asks for holds: then it does not matter whether it had to be asked.
  if (obstacle === undefined) {
    return 'passed';
  }
  if (active === 'undecided' || obstacle === 'undecided') {
    return 'undecided';
  }
  // As long as it is not known whether the rule applies, nothing has failed.
  return obstacle === 'author' && active !== 'awaited' ? 'failed' : 'waiting';
}

function evaluateCondition(condition: Condition, facts: Facts): EvaluatedCondition {
  const { line } = condition;
  switch (condition.kind) {
    case 'all':
    case 'any': {
      // Every part, even when one settles it: `gatehouse explain` and the review show them all.
      const parts = condition.parts.map((part) => evaluateCondition(part, facts));
      const outcomes = parts.map((part) => part.outcome);
      return {
        kind: condition.kind,
        line,
        outcome: condition.kind === 'all' ? worstOf(outcomes) : any(outcomes),
        parts,
      };
    }
    case 'not': {
      const part = evaluateCondition(condition.part, facts);
      return { kind: 'not', line, outcome: opposite(part.outcome), part };
    }
    case 'predicate':
      return evaluatePredicate(condition, facts);
  }
}

function evaluatePredicate(condition: Extract<Condition, { kind: 'predicate' }>, facts: Facts): EvaluatedCondition {
  const { name, line } = condition;
  const same = { kind: 'predicate', name, line } as const;
  const predicate = predicates.get(name);
  if (predicate === undefined) {
    return { ...same, ...undecided(say`the predicate ${name}`, say`no such predicate`) };
  }
  const result = predicate.judge(condition.value, condition.options, facts);
  return { ...same, actor: predicate.actor, ...result, locations: result.locations ?? [] };
}

// Kleene's logic, as in worstOf.

function any(outcomes: readonly Outcome[]): Outcome {
  return opposite(worstOf(outcomes.map(opposite)));
}

function opposite(outcome: Outcome): Outcome {
  if (outcome === 'undecided' || outcome === 'awaited') {
    return outcome;
  }
  return outcome === 'matched' ? 'unmatched' : 'matched';
}

/**
 * The teams that CODEOWNERS adds to those of neededFacts, once the changed files and CODEOWNERS have been
 * read: at most MAX_CODE_OWNER_TEAMS of them. Those left out make their files undecided, not approved.
 */
export function neededOwnerTeams(facts: Facts): readonly string[] {
  return ownerTeams(facts).slice(0, MAX_CODE_OWNER_TEAMS);
}
