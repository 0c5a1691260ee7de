import { joinPeople } from '../../facts/authors/people-settings.ts';
import { COMMENTS, type Comments, DEFAULT_COMMENTS } from './comments.ts';
import type { Policy } from './policy.ts';

/**
 * The policy that a file and the one it extends make together: the base's rules in their order, each replaced by
 * the extending file's rule of the same id if there is one, and then the extending file's other rules. `comments` and
 * `override` are the extending file's, or else the base's. What they say of people is added up.
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
    ...joinPeople(base, extending),
    rules: [...inherited, ...extending.rules.filter((rule) => !ids.has(rule.id))],
  };
}

/** Added to the id of a locked rule where a repository's rule has the same id. No id in a policy can have an `@`. */
const BESIDE = '@baseline';

/**
 * The policy that the organisation's baseline and a repository's own make together. A baseline adds and never takes
 * away:
 * - Its rules come first, and a locked one stays beside a rule of the same id. Any other is replaced, as in {@link
 * mergePolicies}.
 * - Whom it names may override its own rules only: locked ones they alone, others where the repository's policy names
 * nobody.
 * - Comments are those of whichever of the two shows more, so that no rule of it is judged unseen. Without a word on
 * them it shows all.
 */
export function mergeBaseline(baseline: Policy, own: Policy): Policy {
  const ownIds = new Set(own.rules.map(({ id }) => id));
  const first = baseline.rules.map((rule) => ({
    ...rule,
    id: rule.locked && ownIds.has(rule.id) ? `${rule.id}${BESIDE}` : rule.id,
    fromBaseline: true as const,
  }));
  const { override: _ofEither, ...merged } = mergePolicies({ ...baseline, rules: first }, own);
  const comments =
    own.comments === undefined ? baseline.comments : more(baseline.comments ?? DEFAULT_COMMENTS, own.comments);
  return {
    ...merged,
    ...(comments === undefined ? {} : { comments }),
    ...(own.override === undefined ? {} : { override: own.override }),
    ...(baseline.override === undefined ? {} : { baselineOverride: baseline.override }),
  };
}

function more(one: Comments, other: Comments): Comments {
  return COMMENTS.indexOf(one) > COMMENTS.indexOf(other) ? one : other;
}

/**
 * The policy with rules that say no more than their id and message, and without the names of those who may override.
 */
export function hideRules(policy: Policy): Policy {
  const { override } = policy;
  return {
    ...policy,
    ...(override === undefined ? {} : { override: { ...override, names: ['those whom a private policy names'] } }),
    rules: policy.rules.map((rule) => ({ ...rule, hidden: true })),
  };
}
