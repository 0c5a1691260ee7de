import { say } from '../text.ts';
import { textPredicate } from './text-predicate.ts';

export const body = textPredicate({
  description:
    "The pull request's description matches this RE2 regular expression, or one of a list. Begin with (?m) to let ^ and $ mean lines, with (?i) to ignore case.",
  noun: 'description',
  part: 'description',
  toMatch: (patterns) => say`Add text that matches ${patterns} to the description.`,
  read: (facts) => facts.pullRequest.body,
});
