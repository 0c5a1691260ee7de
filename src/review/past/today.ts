import { FORGES, type ForgeName } from '../../forges/port/forges.ts';
import type { Condition, Rule } from '../policy/policy.ts';

/** What predicates look at that the forge shows as it is now, and not as it was when a pull request was merged. */
const AS_OF_TODAY: ReadonlyMap<string, string> = new Map([
  ['title', 'title'],
  ['body', 'description'],
  ['label', 'labels'],
  ['draft', 'draft'],
  ['checks', 'checks'],
  ['reviews_requested', 'requested reviews'],
  ['assignee', 'assignees'],
  ['milestone', 'milestone'],
  ['visibility', 'visibility'],
  ['topic', 'topics'],
  ['threads', 'conversations'],
]);
const WRITE_ACCESS = 'write access of reviewers';

/** What of a rule's conditions is judged as it is today; empty when all of it is as it was. */
export function asOfToday({ when, require, forbid }: Pick<Rule, 'when' | 'require' | 'forbid'>, forge: ForgeName) {
  const names = [when, require, forbid].flatMap((condition) => (condition === undefined ? [] : namesIn(condition)));
  const found = names.flatMap((name) =>
    FORGES[forge].officialAsOf === 'now' && (name === 'approvals' || name === 'changes_requested')
      ? [WRITE_ACCESS]
      : (AS_OF_TODAY.get(name) ?? []),
  );
  return [...new Set(found)];
}

function namesIn(condition: Condition): readonly string[] {
  switch (condition.kind) {
    case 'all':
    case 'any':
      return condition.parts.flatMap(namesIn);
    case 'not':
      return namesIn(condition.part);
    case 'predicate':
      return [condition.name];
  }
}
