import { COMMENTS, type Comments, DEFAULT_COMMENTS } from './comments.ts';
import type { Policy } from './policy.ts';

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

/**
 * The policy that the organisation's baseline and a repository's own make together, as {@link mergePolicies}, but that locked
 * rules of the baseline are never replaced, and overridden only by those whom the baseline names. Comments are those of whichever of the two shows more, so that no rule of the
 * baseline is judged unseen: a baseline that does not name any shows all.
 */
export function mergeBaseline(baseline: Policy, own: Policy): Policy {
  const overruled = new Set(overruledBy(baseline, own));
  const merged = mergePolicies(baseline, { ...own, rules: own.rules.filter(({ id }) => !overruled.has(id)) });
  const comments =
    own.comments === undefined ? baseline.comments : more(baseline.comments ?? DEFAULT_COMMENTS, own.comments);
  return {
    ...merged,
    ...(comments === undefined ? {} : { comments }),
    ...(baseline.override === undefined ? {} : { lockedOverride: baseline.override }),
  };
}

/** Ids of the rules of a policy that are not used, because the baseline has locked rules of these ids. */
export function overruledBy(baseline: Policy, own: Policy): readonly string[] {
  const locked = new Set(baseline.rules.filter((rule) => rule.locked).map(({ id }) => id));
  return own.rules.map(({ id }) => id).filter((id) => locked.has(id));
}

function more(one: Comments, other: Comments): Comments {
  return COMMENTS.indexOf(one) > COMMENTS.indexOf(other) ? one : other;
}

/** The policy with rules that say no more than their id and message, and without the names of those who may override. */
export function hideRules(policy: Policy): Policy {
  const { override } = policy;
  return {
    ...policy,
    ...(override === undefined ? {} : { override: { ...override, names: ['those whom a private policy names'] } }),
    rules: policy.rules.map((rule) => ({ ...rule, hidden: true })),
  };
}
