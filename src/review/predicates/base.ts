import { say } from '../text.ts';
import { branchPredicate } from './branch-predicate.ts';

export const base = branchPredicate({
  description:
    'The branch that the pull request would be merged into matches this glob, or one of a list; globs that start with ! exclude.',
  noun: 'base branch',
  read: (facts) => facts.pullRequest.base.branch,
  remedy: (which) => say`Change the base branch of this pull request to one ${which}.`,
});
