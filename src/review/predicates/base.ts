import { say } from '../text.ts';
import { branchPredicate } from './branch-predicate.ts';

const remedy = say`Change the branch that the pull request asks to be merged into.`;

export const base = branchPredicate({
  description:
    'The branch that the pull request would be merged into matches this glob, or one of a list; globs that start with ! exclude.',
  noun: 'base branch',
  read: (facts) => facts.pullRequest.base.branch,
  remedy: { toMatch: remedy, toAvoid: remedy },
});
