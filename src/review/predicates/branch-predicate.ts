import type { Facts } from '../../facts/table.ts';
import { compileGlobs } from '../matching/glob.ts';
import { quotedList, say, type Text } from '../text.ts';
import { matchingGlobs, notMatchingGlobs } from './glob-words.ts';
import { definePredicate, type Predicate } from './predicate.ts';
import { globs } from './values.ts';

/** A predicate on a branch's name, by globs: `main` is that branch and not `maintenance`. */
export function branchPredicate(definition: {
  readonly description: string;
  readonly noun: string;
  readonly read: (facts: Facts) => string;
  /** `which`: "that matches …". */
  readonly remedy: (which: Text) => Text;
}): Predicate {
  const noun = [definition.noun];
  return definePredicate({
    description: definition.description,
    actor: 'author',
    schema: globs,
    needs: () => ({}),
    judge(given, _options, facts) {
      const name = definition.read(facts);
      return {
        outcome: compileGlobs(given).matches(name) ? 'matched' : 'unmatched',
        expected: say`a ${noun} that matches ${quotedList(given)}`,
        found: say`the ${noun} ${name}`,
        remedy: {
          toMatch: definition.remedy(matchingGlobs(given)),
          toAvoid: definition.remedy(notMatchingGlobs(given)),
        },
      };
    },
  });
}
