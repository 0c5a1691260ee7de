import { compileName } from '../../facts/authors/names.ts';
import { triage as triageFact } from '../../facts/triage.ts';
import { quotedList, say, unreadText } from '../text.ts';
import { named } from './glob-words.ts';
import { definePredicate } from './predicate.ts';
import { names } from './values.ts';

export const milestone = definePredicate({
  description:
    'The pull request has this milestone, or one of a list. Case is ignored, and * stands for any characters: * alone for any milestone.',
  actor: 'author',
  schema: names,
  needs: () => ({ triage: ['milestone'] }),
  judge(wanted, _options, { triage }) {
    const expected = say`the milestone ${quotedList(wanted)}`;
    const remedy = {
      toMatch: say`Set ${named('milestone', wanted)}.`,
      toAvoid: say`Remove the milestone, or set another one.`,
    };
    const title = triage?.milestone;
    if (title === undefined) {
      return { outcome: 'undecided', expected, found: unreadText(triageFact), remedy };
    }
    return {
      outcome: title !== null && wanted.some((name) => compileName(name).matches(title)) ? 'matched' : 'unmatched',
      expected,
      found: title === null ? say`no milestone` : say`the milestone ${title}`,
      remedy,
    };
  },
});
