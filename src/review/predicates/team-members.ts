import type { Facts } from '../../facts/table.ts';
import { everybodyIn } from '../../facts/teams.ts';
import { quotedList, say, type Text } from '../text.ts';
import type { Outcome } from './predicate.ts';

/** People and teams as splitTeams makes them of a policy's list. */
export interface Group {
  readonly people: readonly string[];
  /** `organisation/team`, and `organisation/*` for all members of the organisation. */
  readonly teams: readonly string[];
}

/**
 * Whether somebody is one of these people or in one of these teams; undefined where a team that could not be read
 * decides it.
 */
export function isMember(login: string, { people, teams }: Group, members: Facts['teams']): boolean | undefined {
  if (includesLogin(people, login)) {
    return true;
  }
  const answers = teams.map((team) => isInTeam(login, team, members));
  return answers.includes(true) ? true : answers.includes(undefined) ? undefined : false;
}

/** Whether all of a team are in the group, whoever they are: teams have members of their organisation alone. */
export function includesTeam({ teams }: Group, team: string): boolean {
  return teams.includes(team) || teams.includes(everybodyIn(team.split('/')[0] ?? ''));
}

function isInTeam(login: string, team: string, teams: Facts['teams']): boolean | undefined {
  const known = teams.get(team);
  switch (known?.kind) {
    case undefined:
      return undefined;
    case 'team':
      return includesLogin(known.logins, login);
    case 'organisation':
      return includesLogin(known.members, login) || (includesLogin(known.others, login) ? false : undefined);
  }
}

function includesLogin(logins: readonly string[], login: string): boolean {
  return logins.some((other) => other.toLowerCase() === login.toLowerCase());
}

/** Those of which it is not known who is in them. */
export function unreadableTeams(teams: readonly string[], members: Facts['teams']): readonly string[] {
  return teams.filter((team) => {
    const known = members.get(team);
    return known === undefined || (known.kind === 'organisation' && known.unknown.length > 0);
  });
}

export function couldNotRead(outcome: Outcome, teams: readonly string[]): Text {
  return outcome !== 'undecided' || teams.length === 0
    ? []
    : say`; the members of ${quotedList(teams)} could not be read`;
}
