import { shorten } from '../../common/shorten.ts';
import type { PullRequestPart } from '../../facts/pull-request.ts';
import type { Facts } from '../../facts/table.ts';
import { compilePatterns } from '../matching/pattern.ts';
import { patternList, say, type Text } from '../text.ts';
import { definePredicate, type Predicate } from './predicate.ts';
import { patterns } from './values.ts';

const MAX_TEXT_SHOWN = 120;

/** A predicate on one text of the pull request: it matches when one of the patterns is found in it. */
export function textPredicate(definition: {
  readonly description: string;
  readonly noun: string;
  readonly part: PullRequestPart;
  readonly read: (facts: Facts) => string;
  /** What its author does, from what has to match. */
  readonly toMatch: (patterns: Text) => Text;
}): Predicate {
  const noun = [definition.noun];
  return definePredicate({
    description: definition.description,
    actor: 'author',
    schema: patterns,
    needs: () => ({ pullRequest: [definition.part] }),
    optionsWhereRequired: { required: true },
    judge(sources, { required }, facts) {
      const text = definition.read(facts);
      const matched = compilePatterns(sources, { required })(text);
      return {
        outcome: matched ? 'matched' : 'unmatched',
        expected: say`a ${noun} that matches ${patternList(sources)}`,
        found: text.trim() === '' ? say`an empty ${noun}` : say`the ${noun} ${shorten(text.trim(), MAX_TEXT_SHOWN)}`,
        remedy: {
          toMatch: definition.toMatch(patternList(sources)),
          toAvoid: say`Change the ${noun} so that it doesn’t match ${patternList(sources)}.`,
        },
      };
    },
  });
}
