import { compileName } from '../../facts/authors/names.ts';
import { quotedList, say, type Text } from '../text.ts';
import { named } from './glob-words.ts';
import { definePredicate } from './predicate.ts';
import { names } from './values.ts';

export const label = definePredicate({
  description:
    'The pull request has this label, or one of a list. Case is ignored, and * stands for any characters: size/*.',
  actor: 'author',
  schema: names,
  needs: () => ({ pullRequest: ['labels'] }),
  judge(wanted, _options, facts) {
    const { labels } = facts.pullRequest;
    const matchers = wanted.map((name) => compileName(name));
    const present = labels.filter((name) => matchers.some((matcher) => matcher.matches(name)));
    return {
      outcome: present.length > 0 ? 'matched' : 'unmatched',
      expected: say`the label ${quotedList(wanted)}`,
      found: labels.length === 0 ? say`no labels` : labelled(present.length > 0 ? present : labels),
      remedy: {
        toMatch: say`Add ${named('label', wanted)}.`,
        toAvoid: say`Remove ${labelled(present)}.`,
      },
    };
  },
});

function labelled(labels: readonly string[]): Text {
  return say`${[labels.length === 1 ? 'the label' : 'the labels']} ${quotedList(labels)}`;
}
