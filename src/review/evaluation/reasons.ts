import type { Actor, Location, OwnersTable } from '../predicates/predicate.ts';
import { joinTexts, say, type Text } from '../text.ts';
import type { EvaluatedCondition, EvaluatedRule } from './evaluation.ts';
import { easiestObstacle, type Obstacle, worstObstacle } from './obstacle.ts';

/** Why a rule does not hold, in the parts of its conditions that decide it. */
export type Reason =
  | {
      readonly kind: 'predicate';
      readonly predicate: string;
      readonly actor: Actor;
      readonly undecided: boolean;
      /** Whether it decides if the rule applies at all, and nobody is asked for it. */
      readonly inWhen?: true;
      /** Whether the predicate should have matched, or should not have. */
      readonly wanted: boolean;
      readonly expected: Text;
      readonly found: Text;
      /** Absent: what is expected. */
      readonly awaited?: Text;
      readonly fix: Text;
      readonly locations: readonly Location[];
      /** Whose approval is missing. */
      readonly owners?: OwnersTable;
    }
  /** Each way is enough; all the reasons of one way count together. */
  | { readonly kind: 'one-of'; readonly ways: readonly (readonly Reason[])[] };

export type PredicateReason = Extract<Reason, { readonly kind: 'predicate' }>;

/** Empty when the rule holds or does not apply. */
export function reasonsOf({ outcome, when, require, forbid }: EvaluatedRule): readonly Reason[] {
  if (outcome === 'passed' || outcome === 'inactive') {
    return [];
  }
  if (outcome === 'waiting' && when?.outcome === 'awaited') {
    // What the rule asks for may not be needed.
    return partsOf(when, 'awaited');
  }
  const unsure = outcome === 'undecided' && when?.outcome === 'undecided' ? partsOf(when, 'undecided') : [];
  return [
    ...unsure,
    ...(require === undefined ? [] : against(require, true)),
    ...(forbid === undefined ? [] : against(forbid, false)),
  ];
}

/** The predicates of a `when` with this outcome, such as those that others have yet to report. */
function partsOf(condition: EvaluatedCondition, outcome: 'awaited' | 'undecided'): readonly PredicateReason[] {
  switch (condition.kind) {
    case 'not':
      return partsOf(condition.part, outcome);
    case 'all':
    case 'any':
      return condition.parts.flatMap((part) => partsOf(part, outcome));
    case 'predicate':
      return condition.outcome === outcome ? [{ ...reasonOf(condition, true), inWhen: true }] : [];
  }
}

/** What in a condition stands in the way of its matching, or of its not matching. */
function against(condition: EvaluatedCondition, wanted: boolean): readonly Reason[] {
  const settled = wanted ? 'matched' : 'unmatched';
  if (condition.outcome === settled) {
    return [];
  }
  switch (condition.kind) {
    case 'not':
      return against(condition.part, !wanted);
    case 'all':
    case 'any': {
      const ways = condition.parts.map((part) => against(part, wanted)).filter((found) => found.length > 0);
      const each = (condition.kind === 'all') === wanted;
      return each || ways.length < 2 ? ways.flat() : [{ kind: 'one-of', ways }];
    }
    case 'predicate':
      return [reasonOf(condition, wanted)];
  }
}

function reasonOf(
  condition: Extract<EvaluatedCondition, { readonly kind: 'predicate' }>,
  wanted: boolean,
): PredicateReason {
  return {
    kind: 'predicate',
    predicate: condition.name,
    actor: condition.actor,
    undecided: condition.outcome === 'undecided',
    wanted,
    expected: condition.expected,
    found: condition.found,
    ...(condition.awaited === undefined ? {} : { awaited: condition.awaited }),
    fix: wanted ? condition.remedy.toMatch : condition.remedy.toAvoid,
    // Places are evidence of a match; where one was wanted there are none.
    locations: wanted ? [] : condition.locations,
    ...(wanted && condition.owners ? { owners: condition.owners } : {}),
  };
}

/** Who has to act before these no longer stand in the way; undefined for none. */
export function obstacleOf(reasons: readonly Reason[]): Obstacle | undefined {
  return worstObstacle(
    reasons.map((reason) => {
      if (reason.kind === 'one-of') {
        return easiestObstacle(reason.ways.map(obstacleOf));
      }
      return reason.undecided ? 'undecided' : reason.actor;
    }),
  );
}

/** What others still have to do, as a noun; empty where it is all up to the author. */
export function awaitedIn(reasons: readonly Reason[]): Text {
  return joinTexts(
    reasons.map((reason) => {
      if (reason.kind === 'one-of') {
        return joinTexts(reason.ways.map(awaitedIn), ' or ');
      }
      const { actor, undecided, wanted, expected, awaited } = reason;
      return actor === 'author' || undecided ? [] : (awaited ?? (wanted ? expected : say`no ${expected}`));
    }),
    ' and ',
  );
}

/** All places of all reasons, each once. */
export function locationsOf(reasons: readonly Reason[]): readonly Location[] {
  const found = new Map<string, Location>();
  const visit = (reason: Reason): void => {
    if (reason.kind === 'one-of') {
      reason.ways.flat().forEach(visit);
      return;
    }
    for (const location of reason.locations) {
      const key = JSON.stringify([location.path, location.line ?? null]);
      if (!found.has(key)) {
        found.set(key, location);
      }
    }
  };
  reasons.forEach(visit);
  return [...found.values()];
}
