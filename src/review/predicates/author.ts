import { compileName } from '../authors/names.ts';
import { quotedList, say, type Text } from '../text.ts';
import { definePredicate, type Outcome } from './predicate.ts';
import { peopleOrTeams, splitTeams } from './values.ts';

export const author = definePredicate({
  description:
    'Who opened the pull request: a login, or a list of logins and teams (@organisation/team). Case is ignored, and * stands for any characters: *[bot].',
  actor: 'author',
  schema: peopleOrTeams,
  needs: (members) => ({ teams: splitTeams(members).teams }),
  judge(members, _options, facts) {
    const login = facts.pullRequest.author;
    const { people, teams } = splitTeams(members);
    const unreadable = teams.filter((team) => !facts.teams.has(team));
    const matched =
      people.some((name) => compileName(name).matches(login)) ||
      teams.some((team) => facts.teams.get(team)?.some((member) => member.toLowerCase() === login.toLowerCase()));
    let outcome: Outcome = matched ? 'matched' : 'unmatched';
    let found: Text = say`the author ${login}`;
    if (!matched && unreadable.length > 0) {
      outcome = 'undecided';
      found = say`the author ${login}; the members of ${quotedList(unreadable)} could not be read`;
    }
    return {
      outcome,
      expected: say`an author among ${quotedList(members)}`,
      found,
      remedy: {
        toMatch: say`One of ${quotedList(members)} must open the pull request.`,
        toAvoid: say`Somebody other than ${quotedList(members)} must open the pull request.`,
      },
    };
  },
});
