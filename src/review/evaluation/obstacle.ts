import type { Actor } from '../predicates/predicate.ts';
import type { EvaluatedCondition } from './evaluation.ts';

/** Who has to act before a condition is as it should be. `undecided`: that cannot be known. */
export type Obstacle = Actor | 'undecided';

/** The first of these that is among several obstacles counts for all of them together. */
const WORST_FIRST: readonly Obstacle[] = ['author', 'undecided', 'others'];
/** Where removing one of several is enough: whoever can be waited for spares the author the work. */
const EASIEST_FIRST: readonly Obstacle[] = ['others', 'author', 'undecided'];

/** What keeps a condition from matching, or from not matching; undefined when nothing does. */
export function obstacleTo(condition: EvaluatedCondition, wanted: boolean): Obstacle | undefined {
  if (condition.outcome === (wanted ? 'matched' : 'unmatched')) {
    return undefined;
  }
  switch (condition.kind) {
    case 'predicate':
      return condition.outcome === 'undecided' ? 'undecided' : condition.actor;
    case 'not':
      return obstacleTo(condition.part, !wanted);
    case 'all':
    case 'any': {
      const obstacles = condition.parts.map((part) => obstacleTo(part, wanted));
      if ((condition.kind === 'all') === wanted) {
        return worstObstacle(obstacles);
      }
      // As long as one way is not known, another one may not be needed.
      return condition.outcome === 'undecided' ? 'undecided' : easiestObstacle(obstacles);
    }
  }
}

/** The worst of obstacles that must all be removed; undefined when there is none. */
export function worstObstacle(obstacles: readonly (Obstacle | undefined)[]): Obstacle | undefined {
  return firstOf(WORST_FIRST, obstacles);
}

/** The easiest of obstacles of which removing one is enough. */
export function easiestObstacle(obstacles: readonly (Obstacle | undefined)[]): Obstacle | undefined {
  return firstOf(EASIEST_FIRST, obstacles);
}

function firstOf(order: readonly Obstacle[], obstacles: readonly (Obstacle | undefined)[]): Obstacle | undefined {
  return order.find((obstacle) => obstacles.includes(obstacle));
}
