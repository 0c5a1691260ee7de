import { compileName } from '../../facts/authors/names.ts';
import { neededMembers } from '../../facts/teams.ts';
import { triage as triageFact } from '../../facts/triage.ts';
import { either, quotedList, say, unreadText } from '../text.ts';
import { definePredicate } from './predicate.ts';
import { isMember, unreadableTeams } from './team-members.ts';
import { peopleOrTeamsAlone, splitTeams } from './values.ts';

export const assignee = definePredicate({
  description:
    'Someone is assigned who is this login, or one of a list of logins and teams (@organisation/team). Case is ignored, and * stands for any characters: * alone for anyone.',
  actor: 'author',
  schema: peopleOrTeamsAlone,
  needs: (members) => ({ triage: ['assignees'], ...neededMembers('assignees', splitTeams(members).teams) }),
  judge(members, _options, { triage, teams: known }) {
    const { people, teams } = splitTeams(members);
    const patterns = people.map((name) => compileName(name));
    const expected = say`an assignee among ${quotedList(members)}`;
    const isWanted = (login: string) =>
      patterns.some((name) => name.matches(login)) || isMember(login, { people: [], teams }, known);
    const assignees = triage?.assignees;
    const remedy = {
      toMatch: members.some((name) => name.includes('*'))
        ? say`Assign someone whose login matches ${either(members)}.`
        : say`Assign ${either(members)}.`,
      toAvoid: say`Unassign ${quotedList(assignees?.filter(isWanted) ?? [])}.`,
    };
    if (assignees === undefined) {
      return { outcome: 'undecided', expected, found: unreadText(triageFact), remedy };
    }
    const answers = assignees.map(isWanted);
    const outcome = answers.includes(true) ? 'matched' : answers.includes(undefined) ? 'undecided' : 'unmatched';
    const assigned = assignees.length === 0 ? say`no assignee` : say`the assignees ${quotedList(assignees)}`;
    return {
      outcome,
      expected,
      found:
        outcome === 'undecided'
          ? say`${assigned}; the members of ${quotedList(unreadableTeams(teams, known))} could not be read`
          : assigned,
      remedy,
    };
  },
});
