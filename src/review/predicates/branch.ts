import { say } from '../text.ts';
import { branchPredicate } from './branch-predicate.ts';

export const branch = branchPredicate({
  description: "The proposed branch's name matches this glob, or one of a list; globs that start with ! exclude.",
  noun: 'branch',
  read: (facts) => facts.pullRequest.head.branch,
  remedy: (which) => say`Push your commits to a branch with a name ${which}, and open a pull request from there.`,
});
