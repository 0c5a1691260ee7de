import { compileName } from '../../facts/authors/names.ts';
import { neededMembers } from '../../facts/teams.ts';
import { either, quotedList, say } from '../text.ts';
import { definePredicate } from './predicate.ts';
import { couldNotRead, isMember, unreadableTeams } from './team-members.ts';
import { peopleOrTeams, splitTeams } from './values.ts';

export const author = definePredicate({
  description:
    'Who opened the pull request: a login, or a list of logins and teams (@organisation/team). Case is ignored, and * stands for any characters: *[bot].',
  actor: 'author',
  schema: peopleOrTeams,
  needs: (members) => neededMembers('author', splitTeams(members).teams),
  judge(members, _options, facts) {
    const login = facts.pullRequest.author;
    const { people, teams } = splitTeams(members);
    const matched =
      people.some((name) => compileName(name).matches(login)) || isMember(login, { people: [], teams }, facts.teams);
    const outcome = matched === undefined ? 'undecided' : matched ? 'matched' : 'unmatched';
    return {
      outcome,
      expected: say`an author among ${quotedList(members)}`,
      found: say`the author ${login}${couldNotRead(outcome, unreadableTeams(teams, facts.teams))}`,
      remedy: {
        toMatch: say`Ask ${either(members)} to open the pull request.`,
        toAvoid: say`Ask someone other than ${either(members)} to open the pull request.`,
      },
    };
  },
});
