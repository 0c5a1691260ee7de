import { say } from '../text.ts';
import { branchPredicate } from './branch-predicate.ts';

const remedy = say`Push the commits to a branch with another name and open the pull request from there.`;

export const branch = branchPredicate({
  description: "The proposed branch's name matches this glob, or one of a list; globs that start with ! exclude.",
  noun: 'branch',
  read: (facts) => facts.pullRequest.head.branch,
  remedy: { toMatch: remedy, toAvoid: remedy },
});
