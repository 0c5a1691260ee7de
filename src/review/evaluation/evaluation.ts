import type { Facts } from '../../facts/table.ts';
import type { Policy, Rule } from '../policy/policy.ts';
import type { Actor, Location, Outcome, OwnersTable } from '../predicates/predicate.ts';
import type { Text } from '../text.ts';

/** The result of a condition, and of every part of it. */
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
      readonly actor: Actor;
      readonly outcome: Outcome;
      readonly expected: Text;
      readonly found: Text;
      readonly locations: readonly Location[];
      readonly owners?: OwnersTable;
      readonly awaited?: Text;
      readonly remedy: { readonly toMatch: Text; readonly toAvoid: Text };
    };

/**
 * - `failed`: the author has something to do.
 * - `waiting`: it does not hold, and what is missing can come from others.
 * - `undecided`: what was read of the pull request does not settle it.
 * - `inactive`: its `when` does not match, so it asks for nothing here.
 */
export type RuleOutcome = 'passed' | 'failed' | 'waiting' | 'undecided' | 'inactive';

export interface EvaluatedRule {
  readonly rule: Pick<Rule, 'id' | 'level' | 'message' | 'example' | 'locked' | 'hidden' | 'source'>;
  readonly outcome: RuleOutcome;
  readonly when?: EvaluatedCondition;
  /** Absent when the rule has none, or is inactive. */
  readonly require?: EvaluatedCondition;
  readonly forbid?: EvaluatedCondition;
  /** The pull request is a draft: everything is judged as if it were ready for review. */
  readonly asIfReady?: true;
}

export interface Evaluation {
  readonly rules: readonly EvaluatedRule[];
  /**
   * A limit of the worker ended it: no rule in force was judged, so that the verdict is an error whatever the rules'
   * levels.
   */
  readonly ended?: true;
}

/** Evaluates off the event loop, within limits of time and memory. */
export interface EvaluationWorkers {
  /**
   * When it hits a limit all rules are undecided, so that the result does not depend on how far it came; at a rule of
   * level observe, only those of that level. `observed`: what they are judged by, where that is more.
   */
  evaluate(policy: Policy, facts: Facts, observed?: Facts): Promise<Evaluation>;
  /** The teams that CODEOWNERS names for the change; none when they were not found within the limits. */
  ownerTeams(facts: Facts): Promise<readonly string[]>;
}
