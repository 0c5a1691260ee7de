import type { PullRequest } from '../../forges/port/pull-request.ts';
import type { EvaluatedCondition, EvaluatedRule } from '../evaluation/evaluation.ts';
import type { ReviewResult } from '../judge.ts';
import type { RefusedOverride } from '../overrides/override.ts';
import type { OwnersTable } from '../predicates/predicate.ts';
import { plain } from '../text.ts';

/** Long enough for whatever a predicate quotes. */
const MAX_QUOTED_SHOWN = 10_000;

/** What `gatehouse explain --json` prints: everything that the tree shows, for programs. `closed`: why it is over. */
export function explanation(result: ReviewResult, closed: PullRequest | undefined): object {
  if (result.kind === 'over') {
    return closed === undefined ? { outcome: 'not-found' } : { outcome: 'closed', pullRequest: closed };
  }
  const { pullRequest } = result;
  if (result.kind === 'no-policy' || result.kind === 'archived') {
    return { outcome: result.kind, pullRequest };
  }
  const { state, description, policyFaults, fixesPolicy, overrides } = result.verdict;
  return {
    outcome: 'judged',
    pullRequest,
    status: { state, description },
    rules: result.evaluation?.rules.map(ofRule) ?? [],
    ...(overrides && { overrides: { ...overrides, refused: overrides.refused.map(ofRefused) } }),
    policyFaults,
    ...(fixesPolicy === undefined ? {} : { fixesPolicy }),
  };
}

function ofRefused({ why, ...about }: RefusedOverride): object {
  return { ...about, why: plain(why, MAX_QUOTED_SHOWN) };
}

function ofRule({ rule, outcome, asIfReady, when, require, forbid }: EvaluatedRule): object {
  return {
    ...rule,
    outcome,
    ...(asIfReady && { asIfReady }),
    ...(when && { when: ofCondition(when) }),
    ...(require && { require: ofCondition(require) }),
    ...(forbid && { forbid: ofCondition(forbid) }),
  };
}

function ofOwners({ faults, ...table }: OwnersTable): object {
  return { ...table, faults: faults.map(({ line, what }) => ({ line, what: plain(what, MAX_QUOTED_SHOWN) })) };
}

function ofCondition(condition: EvaluatedCondition): object {
  const { kind, line, outcome } = condition;
  switch (condition.kind) {
    case 'all':
    case 'any':
      return { kind, line, outcome, parts: condition.parts.map(ofCondition) };
    case 'not':
      return { kind, line, outcome, part: ofCondition(condition.part) };
    case 'predicate':
      return {
        kind,
        name: condition.name,
        actor: condition.actor,
        line,
        outcome,
        expected: plain(condition.expected, MAX_QUOTED_SHOWN),
        found: plain(condition.found, MAX_QUOTED_SHOWN),
        locations: condition.locations.map(({ digest: _ofTheLine, ...place }) => place),
        ...(condition.owners && { owners: ofOwners(condition.owners) }),
      };
  }
}
