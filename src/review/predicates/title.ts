import { textPredicate } from './text-predicate.ts';

export const title = textPredicate({
  description:
    "The pull request's title matches this RE2 regular expression, or one of a list. Found anywhere in it unless anchored with ^ and $.",
  noun: 'title',
  part: 'title',
  read: (facts) => facts.pullRequest.title,
});
