import { compileName } from '../../facts/authors/names.ts';
import { repository as repositoryFact } from '../../facts/repository.ts';
import { quotedList, say, unreadText } from '../text.ts';
import { definePredicate } from './predicate.ts';
import { REPOSITORY_REMEDY } from './repository.ts';
import { names } from './values.ts';

export const topic = definePredicate({
  description:
    'The repository has this topic, or one of a list. Case is ignored, and * stands for any characters: team-*.',
  actor: 'author',
  schema: names,
  needs: () => ({ repository: ['topics'] }),
  judge(wanted, _options, { repository }) {
    const topics = repository?.topics;
    const matchers = wanted.map((name) => compileName(name));
    const present = topics?.some((name) => matchers.some((matcher) => matcher.matches(name)));
    return {
      outcome: present === undefined ? 'undecided' : present ? 'matched' : 'unmatched',
      expected: say`a repository with the topic ${quotedList(wanted)}`,
      found:
        topics === undefined
          ? unreadText(repositoryFact)
          : topics.length === 0
            ? say`no topics`
            : say`the topics ${quotedList(topics)}`,
      remedy: { toMatch: REPOSITORY_REMEDY, toAvoid: REPOSITORY_REMEDY },
    };
  },
});
