import { say } from '../text.ts';
import { textPredicate } from './text-predicate.ts';

export const title = textPredicate({
  description:
    "The pull request's title matches this RE2 regular expression, or one of a list. Found anywhere in it unless anchored with ^ and $.",
  noun: 'title',
  part: 'title',
  toMatch: (patterns) => say`Change the title to match ${patterns}.`,
  read: (facts) => facts.pullRequest.title,
});
